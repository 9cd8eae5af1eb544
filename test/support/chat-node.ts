/** The chat on nodes of a test's own, with an admin, to which anybody may come. */
import { chat } from '../../bin/services/chat.js';
import { devLogin, type Member } from './chat-client.js';
import { type Servers, startServers } from './engines.js';
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
    for (let each = 0; each < count; each++)
      nodes.push(await startNode([chat], { servers: given, flags: common }));
    admin = await join('admin');
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
