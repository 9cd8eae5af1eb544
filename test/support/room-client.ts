/** A client of the rooms, written from the contract alone: encrypts, signs, verifies, decrypts. */
import type { webcrypto } from 'node:crypto';
import {
  newChain,
  newRoomSecret,
  newSigner,
  openEnvelope,
  random,
  type SealedEnvelope,
  text,
} from './room-fixtures.js';
import type { Server } from './server-process.js';

export interface Participant {
  readonly id: string;
  readonly name: string;
  readonly joinedAt: string;
  readonly signingPublicKey: webcrypto.JsonWebKey;
}

export interface StoredMessage extends SealedEnvelope {
  readonly id: string;
  readonly roomId: string;
  readonly senderId: string;
  readonly createdAt: string;
  readonly expiresAt: string;
}

export interface Entered {
  readonly roomId: string;
  readonly participantId: string;
  readonly sessionToken: string;
  readonly expiresAt: string;
  readonly participants: readonly Participant[];
}

export interface RoomState extends Pick<Entered, 'roomId' | 'expiresAt' | 'participants'> {
  readonly messages: readonly StoredMessage[];
}

export interface StreamEvent {
  readonly type: string;
  readonly payload: unknown;
}

/** An invite, passed from person to person outside of the service. */
export interface Invitation {
  readonly roomId: string;
  readonly inviteToken: string;
  readonly roomSecret: string;
}

export interface Answered<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

/** An error answer of the service. */
export class RoomError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly error: string,
  ) {
    super(`${status} ${code}: ${error}`);
  }
}

export interface CallOptions {
  readonly body?: unknown;
  readonly token?: string;
  readonly headers?: { readonly [name: string]: string };
}

/** Sends a JSON request; resolves to status and body for any status. */
export async function call<Body = { error: string; code: string }>(
  base: string,
  method: string,
  path: string,
  { body, token, headers = {} }: CallOptions = {},
): Promise<Answered<Body>> {
  const response = await fetch(base + path, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as Body;
  return { status: response.status, headers: response.headers, body: answer };
}

/** Like `call`; resolves to the body of a success, and rejects otherwise. */
async function ask<Body>(...request: Parameters<typeof call>): Promise<Body> {
  const { status, body } = await call<Body & { error?: string; code?: string }>(...request);
  if (status >= 400) throw new RoomError(status, body.code ?? '', body.error ?? '');
  return body;
}

export async function createRoom(base: string, participantName: string, ttlMs?: number) {
  const signer = await newSigner();
  const body = { participantName, signingPublicKey: signer.publicKey, ...(ttlMs ? { ttlMs } : {}) };
  const entered = await ask<Entered>(base, 'POST', '/rooms', { body });
  return inRoom(base, entered, newRoomSecret(), signer);
}

export async function joinRoom(base: string, invitation: Invitation, participantName: string) {
  const { roomId, inviteToken, roomSecret } = invitation;
  const signer = await newSigner();
  const body = { participantName, inviteToken, signingPublicKey: signer.publicKey };
  const entered = await ask<Entered>(base, 'POST', `/rooms/${roomId}/join`, { body });
  return inRoom(base, entered, roomSecret, signer);
}

export type RoomClient = ReturnType<typeof inRoom>;

function inRoom(base: string, entered: Entered, roomSecret: string, signer: Parameters<typeof newChain>[1]) {
  const { roomId, participantId, sessionToken: token } = entered;
  const chain = newChain(roomSecret, signer);
  const room = `/rooms/${roomId}`;
  const known = new Map(entered.participants.map((each) => [each.id, each]));
  const meet = (people: readonly Participant[]) => people.forEach((each) => void known.set(each.id, each));

  return {
    ...entered,

    async invite(): Promise<Invitation> {
      const inviteToken = text(random(24));
      await ask(base, 'POST', `${room}/invites`, { token, body: { inviteToken } });
      return { roomId, inviteToken, roomSecret };
    },

    seal: (plain: string) => chain.seal(roomId, participantId, plain),

    async post(plain: string): Promise<StoredMessage> {
      const body = await chain.seal(roomId, participantId, plain);
      const { message } = await ask<{ message: StoredMessage }>(base, 'POST', `${room}/messages`, {
        token,
        body,
      });
      return message;
    },

    /** Reads the state, and remembers its participants. */
    async state(after?: string): Promise<RoomState> {
      const query = after === undefined ? '' : `?after=${encodeURIComponent(after)}`;
      const state = await ask<RoomState>(base, 'GET', `${room}/state${query}`, { token });
      meet(state.participants);
      return state;
    },

    /** Verifies a message with its sender's key and decrypts it; throws if either fails. */
    async open(message: StoredMessage): Promise<string> {
      const sender = known.get(message.senderId);
      if (!sender) throw new Error('nobody knows who sent this');
      return openEnvelope(roomSecret, sender.signingPublicKey, message.roomId, message.senderId, message);
    },

    async read(after?: string): Promise<string[]> {
      const { messages } = await this.state(after);
      return Promise.all(messages.map((message) => this.open(message)));
    },

    burn: () => ask<{ success: true }>(base, 'POST', `${room}/burn`, { token }),

    /**
     * Resolves after the greeting. Skips joins of participants known before, oneself included: they are
     * delivered if the node had not read them when the stream began.
     */
    stream: (lastEventId?: string) => {
      const before = new Set(known.keys());
      return openStream(`${base}${room}/events`, token, lastEventId, ({ type, payload }) => {
        if (type !== 'PARTICIPANT_JOINED') return true;
        const { id } = payload as Participant;
        meet([payload as Participant]);
        return !before.has(id);
      });
    },
  };
}

/** Reads server-sent events of the HTML standard until the server ends the stream. */
async function openStream(
  url: string,
  token: string,
  lastEventId: string | undefined,
  isNew: (event: StreamEvent) => boolean,
) {
  const cut = new AbortController();
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${token}`, ...(lastEventId ? { 'last-event-id': lastEventId } : {}) },
    signal: cut.signal,
  });
  if (response.status !== 200 || !response.body) {
    const { error, code } = (await response.json()) as { error: string; code: string };
    throw new RoomError(response.status, code, error);
  }
  let cursor = lastEventId;
  const events = parse(response.body, (id) => {
    cursor = id;
  });
  return {
    cursor: () => cursor,
    /** The next event, or undefined at the end. */
    async next(): Promise<StreamEvent | undefined> {
      for (;;) {
        const { value, done } = await events.next();
        if (done) return undefined;
        if (isNew(value)) return value;
      }
    },
    close: () => cut.abort(),
  };
}

async function* parse(body: ReadableStream<Uint8Array>, onId: (id: string) => void) {
  let rest = '';
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + chunk).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const data: string[] = [];
      for (const line of block.split('\n')) {
        if (line.startsWith('id:')) onId(line.slice(3).trim());
        if (line.startsWith('data:')) data.push(line.slice(5).trimStart());
      }
      if (data.length > 0) yield JSON.parse(data.join('\n')) as StreamEvent;
    }
  }
}

/** Reads the state of a room at a node; repeats while the node reports that it is catching up. */
export async function settledState(
  { urls }: Pick<Server, 'urls'>,
  { roomId, sessionToken: token }: Pick<RoomClient, 'roomId' | 'sessionToken'>,
  headers: { readonly [name: string]: string } = {},
) {
  for (;;) {
    const answer = await call<RoomState>(urls.rooms ?? '', 'GET', `/rooms/${roomId}/state`, {
      token,
      headers,
    });
    if (answer.headers.get('consistency') !== 'pending') return answer;
  }
}
