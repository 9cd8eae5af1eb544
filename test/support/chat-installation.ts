/** The chat on nodes for tests: on free ports, with settings by their flags. */
import { randomUUID } from 'node:crypto';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { chat } from '../../bin/services/chat.js';
import { type RunningNode, startNode } from './node.js';

export const JWT_SECRET = 'f3b1c0de-5eed-4b1d-8f00-0123456789ab';

/** Of a mode that asks for a secret. */
export const inMode = (mode: 'password' | 'magic-link') => ({
  '--auth-auth-mode': mode,
  '--auth-jwt-secret': JWT_SECRET,
});

type Flags = { readonly [flag: string]: string };

export interface Chats {
  /** By node. */
  readonly urls: readonly string[];
  readonly servers: Servers;
  readonly nodes: readonly RunningNode[];
  /** One more, of the same installation. */
  more(flags?: Flags): Promise<RunningNode>;
  stop(): Promise<void>;
}

/** So many nodes of one installation, started at once. */
export async function startChats(count: number, flags: Flags = {}, file?: object): Promise<Chats> {
  const servers = await startServers();
  const common = {
    '--chat-port': '0',
    '--mongo-database': `test_${randomUUID().slice(0, 8)}`,
    '--secret': 'a secret that all of the nodes have got',
    ...flags,
  };
  const nodes: RunningNode[] = [];
  const more = async (own: Flags = {}) => {
    const options = { servers, flags: { ...common, ...own }, ...(file && { file }) };
    const node = await startNode([chat], options);
    nodes.push(node);
    return node;
  };
  const stop = async () => {
    for (const node of nodes.splice(0)) await node.stop();
    await servers.stop();
  };
  try {
    const started = await Promise.all(Array.from({ length: count }, () => more()));
    return { urls: started.map((node) => node.url('chat')), servers, nodes, more, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
