/** The chat on nodes of a test's own, with an admin, to which anybody may come. */
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { chat } from '../../bin/services/chat.js';
import { ask, devLogin, type Member } from './chat-client.js';
import { type RunningNode, startNode } from './node.js';

export interface ChatNodes {
  /** Of the first node, and of the others. */
  readonly base: string;
  readonly bases: readonly string[];
  readonly nodes: readonly RunningNode[];
  readonly servers: Servers;
  readonly admin: Member;
  /** Somebody who is signed in as `<name>@example.org`. */
  join(name: string, base?: string): Promise<Member>;
}

/** So many nodes for all tests of a `describe`, over the same servers. */
export function useChat(count = 1, flags: { readonly [flag: string]: string } = {}): ChatNodes {
  const nodes: RunningNode[] = [];
  let servers: Servers | undefined;
  let admin: Member | undefined;
  const bases = () => nodes.map((node) => node.url('chat'));
  const first = () => bases()[0] ?? '';
  const join = (name: string, base = first()) => devLogin(base, `${name}@example.org`);
  const withPassword = async () => {
    const credentials = { email: 'admin@example.org', password: flags['--chat-initial-user-password'] };
    const { body } = await ask(first(), 'POST', '/auth/password-login', { body: credentials });
    const token: string = body.accessToken;
    const me = await ask(first(), 'GET', '/auth/me', { token });
    return { id: me.body.user.id, token, refreshToken: body.refreshToken };
  };
  before(async () => {
    const given = await startServers();
    servers = given;
    const common = {
      '--chat-port': '0',
      '--mongo-database': 'test_chat',
      '--secret': 'a secret that all of the nodes have got',
      '--auth-is-invite-required': 'false',
      '--auth-max-active-sessions': '100',
      '--chat-initial-user-email': 'admin@example.org',
      ...flags,
    };
    for (let each = 0; each < count; each++) nodes.push(await startNode([chat], { servers: given, flags: common }));
    admin = await (flags['--auth-auth-mode'] === 'password' ? withPassword() : join('admin'));
  });
  after(async () => {
    for (const node of nodes) await node.stop();
    await servers?.stop();
  });
  return {
    get base() {
      return first();
    },
    get bases() {
      return bases();
    },
    nodes,
    get servers() {
      return servers!;
    },
    get admin() {
      return admin!;
    },
    join,
  };
}
