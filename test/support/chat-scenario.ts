/** The chat on nodes in the process of the test, from bare nodes to people who share files in a channel. */
import { randomBytes, randomUUID } from 'node:crypto';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { chat } from '../../bin/services/chat.js';
import { type Answered, ask, devLogin, type Member, type RequestOptions } from './http-spec.js';
import { type RunningNode, startNode } from './node.js';

type Flags = { readonly [flag: string]: string };

export const JWT_SECRET = 'f3b1c0de-5eed-4b1d-8f00-0123456789ab';

/** Flags of an authentication mode that requires a secret. */
export const inMode = (mode: 'password' | 'magic-link') => ({
  '--auth-auth-mode': mode,
  '--auth-jwt-secret': JWT_SECRET,
});

/** Flags of a chat that everybody may join, with an admin. */
const OPEN: Flags = {
  '--auth-is-invite-required': 'false',
  '--auth-max-active-sessions': '100',
  '--chat-initial-user-email': 'admin@example.org',
};

export interface Chats {
  /** By node. */
  readonly urls: readonly string[];
  readonly servers: Servers;
  readonly nodes: readonly RunningNode[];
  /** Flags that give a command the addresses of the same stores. */
  readonly storeFlags: readonly string[];
  /** Starts another node of the installation. */
  more(flags?: Flags): Promise<RunningNode>;
  stop(): Promise<void>;
}

/** Starts nodes of one installation in parallel, on servers of their own. */
export async function startChats(count: number, flags: Flags = {}, file?: object): Promise<Chats> {
  const servers = await startServers();
  const shared = {
    '--mongo-database': `test_${randomUUID().slice(0, 8)}`,
    '--secret': 'a secret that all of the nodes have got',
    ...flags,
  };
  const storeFlags = ['--event-store-url', servers.eventStoreUrl, '--mongo-url', servers.mongoUrl];
  for (const flag of ['--mongo-database', '--secret'] as const) storeFlags.push(flag, shared[flag]);
  const nodes: RunningNode[] = [];
  const more = async (own: Flags = {}) => {
    const node = await startNode([chat], {
      servers,
      flags: { '--chat-port': '0', ...shared, ...own },
      ...(file && { file }),
    });
    nodes.push(node);
    return node;
  };
  const stop = async () => {
    for (const node of nodes.splice(0)) await node.stop();
    await servers.stop();
  };
  try {
    const started = await Promise.all(Array.from({ length: count }, () => more()));
    return { urls: started.map((node) => node.url('chat')), servers, nodes, storeFlags, more, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

export interface ChatNodes {
  /** URL of the first node. */
  readonly base: string;
  /** URLs of all nodes. */
  readonly bases: readonly string[];
  readonly nodes: readonly RunningNode[];
  readonly servers: Servers;
  readonly storeFlags: readonly string[];
  readonly admin: Member;
  /** Signs `<name>@example.org` in. */
  join(name: string, base?: string): Promise<Member>;
}

/** Starts an open chat with an admin for all tests of a `describe`. */
export function useChat(count = 1, flags: Flags = {}): ChatNodes {
  let chats: Chats;
  let admin: Member;
  const bases = () => chats?.nodes.map((node) => node.url('chat')) ?? [];
  const first = () => bases()[0] ?? '';
  const join = (name: string, base = first()) => devLogin(base, `${name}@example.org`);
  before(async () => {
    chats = await startChats(1, { ...OPEN, ...flags });
    for (let started = 1; started < count; started++) await chats.more();
    admin = await (flags['--auth-auth-mode'] === 'password' ? signInAsAdmin(first(), flags) : join('admin'));
  });
  after(() => chats?.stop());
  return {
    get base() {
      return first();
    },
    get bases() {
      return bases();
    },
    get nodes() {
      return chats.nodes;
    },
    get servers() {
      return chats.servers;
    },
    get storeFlags() {
      return chats.storeFlags;
    },
    get admin() {
      return admin;
    },
    join,
  };
}

async function signInAsAdmin(base: string, flags: Flags): Promise<Member> {
  const credentials = { email: 'admin@example.org', password: flags['--chat-initial-user-password'] };
  const { body } = await ask(base, 'POST', '/auth/password-login', { body: credentials });
  const token: string = body.accessToken;
  const me = await ask(base, 'GET', '/auth/me', { token });
  return { id: me.body.user.id, token, refreshToken: body.refreshToken };
}

export interface ChatWorld {
  readonly servers: Servers;
  readonly nodes: readonly RunningNode[];
  readonly base: string;
  readonly admin: Member;
  readonly ada: Member;
  readonly bob: Member;
  readonly cyd: Member;
  /** Signs `<name>@example.org` in. */
  join(name: string): Promise<Member>;
  /** Sends a request with the member's token. */
  as(who: Member | undefined, method: string, path: string, body?: unknown, more?: RequestOptions): Promise<Answered>;
  /** Like `as`; resolves with the body, and rejects unless the status is 200. */
  // biome-ignore lint/suspicious/noExplicitAny: server answers are checked member by member.
  done(who: Member, method: string, path: string, body?: unknown, more?: RequestOptions): Promise<any>;
  stop(): Promise<void>;
}

/** Starts an open chat with an admin and three users. */
export async function startChat(count = 1): Promise<ChatWorld> {
  const chats = await startChats(1, OPEN);
  for (let started = 1; started < count; started++) await chats.more();
  const base = chats.urls[0]!;
  const join = (name: string) => devLogin(base, `${name}@example.org`);
  const as: ChatWorld['as'] = (who, method, path, body, more = {}) =>
    ask(base, method, path, { token: who?.token, body, ...more });
  const [admin, ada, bob, cyd] = [await join('admin'), await join('ada'), await join('bob'), await join('cyd')];
  return {
    ...chats,
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
  };
}

// biome-ignore lint/suspicious/noExplicitAny: server answers are checked member by member.
export type AnyBody = any;

export interface OwnChannel extends Omit<ChatWorld, 'nodes' | 'servers' | 'stop'> {
  /** Id of a new channel for each test. */
  readonly channel: string;
  /** Creates another channel. */
  open(): Promise<string>;
  /** Posts a message, or a text as its content; resolves with the message of the answer. */
  post(who: Member, input: object | string, at?: string): Promise<AnyBody>;
  /** Reads a page of messages as ada. */
  page(query?: string): Promise<AnyBody[]>;
}

/** Starts a chat for all tests of a `describe`, with a channel for each test. */
export function useChannel(): OwnChannel {
  let channel = '';
  let opened = 0;
  const own = {} as { -readonly [member in keyof OwnChannel]: OwnChannel[member] } & Pick<ChatWorld, 'stop'>;
  const open = async (): Promise<string> =>
    (await own.done(own.ada, 'POST', '/channels', { name: `c${++opened}` })).channel.id;
  before(async () => void Object.assign(own, await startChat()));
  after(() => own.stop?.());
  beforeEach(async () => {
    channel = await open();
    own.channel = channel;
  });
  return Object.assign(own, {
    open,
    async post(who: Member, input: object | string, at = channel) {
      const body = typeof input === 'string' ? { content: input } : input;
      return (await own.done(who, 'POST', `/channels/${at}/messages`, body)).message;
    },
    page: async (query = '') => (await own.done(own.ada, 'GET', `/channels/${channel}/messages${query}`)).messages,
  });
}

/** Random bytes of this length with the signature of a PDF. */
export function pdf(length: number): Buffer {
  const bytes = randomBytes(length);
  bytes.write('%PDF-1.7\n');
  return bytes;
}

type World = Pick<ChatWorld, 'as' | 'base'>;

export const uploadFile = (
  world: World,
  who: Member | undefined,
  filename: string,
  file: Buffer | string,
  more: object = {},
): Promise<Answered> =>
  world.as(who, 'POST', '/files', {
    filename,
    file: typeof file === 'string' ? file : file.toString('base64'),
    contentType: 'application/octet-stream',
    ...more,
  });

export interface Attached {
  readonly filename: string;
  readonly originalName: string;
  readonly contentType: string;
  readonly size: number;
}

let count = 0;

/** Uploads a file that is accepted. */
export async function uploaded(
  world: World,
  who: Member,
  filename = `f${++count}.pdf`,
  file = pdf(100),
): Promise<Attached> {
  const { status, body } = await uploadFile(world, who, filename, file);
  if (status !== 200) throw new Error(`${filename}: ${status} ${JSON.stringify(body)}`);
  return body.attachment;
}

export interface Bytes {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
}

/** Downloads a file: its bytes and headers. */
export async function read(
  { base }: Pick<ChatWorld, 'base'>,
  who: Member | undefined,
  path: string,
  headers: { readonly [name: string]: string } = {},
  method = 'GET',
): Promise<Bytes> {
  const response = await fetch(base + path, {
    method,
    headers: { ...(who && { authorization: `Bearer ${who.token}` }), ...headers },
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, bytes };
}
