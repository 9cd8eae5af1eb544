/** A node of the chat with people on it: an admin, a member of a private channel, and one who is not. */
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { chat } from '../../bin/services/chat.js';
import { type Answered, type Asking, ask, devLogin, type Member } from './chat-client.js';
import { type RunningNode, startNode } from './node.js';

export interface ChatWorld {
  readonly servers: Servers;
  readonly nodes: readonly RunningNode[];
  readonly base: string;
  readonly admin: Member;
  readonly ada: Member;
  readonly bob: Member;
  readonly cyd: Member;
  /** Another one, of this name. */
  join(name: string): Promise<Member>;
  /** `as` asks with the token of somebody. */
  as(who: Member | undefined, method: string, path: string, body?: unknown, more?: Asking): Promise<Answered>;
  /** The same, which must be answered 200: the body. */
  // biome-ignore lint/suspicious/noExplicitAny: what a server answers is looked at member by member.
  done(who: Member, method: string, path: string, body?: unknown, more?: Asking): Promise<any>;
  stop(): Promise<void>;
}

export async function startChat(count = 1, given?: Servers): Promise<ChatWorld> {
  const servers = given ?? (await startServers());
  const flags = {
    '--chat-port': '0',
    '--mongo-database': `test_chat_${Math.random().toString(36).slice(2, 8)}`,
    '--secret': 'a secret that all of the nodes have got',
    '--auth-is-invite-required': 'false',
    '--auth-max-active-sessions': '100',
    '--chat-initial-user-email': 'admin@example.org',
  };
  const nodes: RunningNode[] = [];
  for (let left = count; left > 0; left--) nodes.push(await startNode([chat], { servers, flags }));
  const base = nodes[0]!.url('chat');
  const join = (name: string) => devLogin(base, `${name}@example.org`);
  const [admin, ada, bob, cyd] = [await join('admin'), await join('ada'), await join('bob'), await join('cyd')];
  const as: ChatWorld['as'] = (who, method, path, body, more = {}) =>
    ask(base, method, path, { token: who?.token, body, ...more });
  return {
    servers,
    nodes,
    base,
    admin,
    ada,
    bob,
    cyd,
    join,
    as,
    async done(who, method, path, body, more) {
      const answered = await as(who, method, path, body, more);
      if (answered.status !== 200)
        throw new Error(`${method} ${path}: ${answered.status} ${JSON.stringify(answered.body)}`);
      return answered.body;
    },
    async stop() {
      for (const node of nodes) await node.stop();
      if (!given) await servers.stop();
    },
  };
}
