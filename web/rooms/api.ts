/** Requests to the room service. */
import { ApiError, createHttp } from '../shared/api/http.js';
import type { Entered, RoomState, StoredMessage } from './contract.js';
import type { Envelope, PublicKey } from './crypto/protocol.js';

const http = createHttp();

const roomPath = (roomId: string): string => `rooms/${encodeURIComponent(roomId)}`;

export const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

export const eventsUrl = (roomId: string): string => `${roomPath(roomId)}/events`;

export const createRoom = (signingPublicKey: PublicKey, ttlMs: number): Promise<Entered> =>
  http.json('POST', 'rooms', { body: { signingPublicKey, ttlMs } });

export const joinRoom = (
  roomId: string,
  inviteToken: string,
  signingPublicKey: PublicKey,
  idempotencyKey: string,
): Promise<Entered> =>
  http.json('POST', `${roomPath(roomId)}/join`, { body: { inviteToken, signingPublicKey }, idempotencyKey });

const ENDINGS: { readonly [code: string]: 'unauthorized' | 'gone' } = {
  UNAUTHORIZED: 'unauthorized',
  ROOM_NOT_FOUND: 'gone',
};

/**
 * How a request failed for ever; undefined if it may succeed later. Only the service's own word counts, as the keys are
 * removed then: proxies respond with 401, 404 and pages of their own while the service restarts.
 */
export const endingOf = (error: unknown): 'unauthorized' | 'gone' | undefined =>
  error instanceof ApiError ? ENDINGS[error.code ?? ''] : undefined;

/** A message is sent again after this time without an answer. */
const POST_MS = 20_000;

/** The requests of a participant. */
export function createRoomApi(roomId: string, token: string) {
  const headers = bearer(token);
  const path = roomPath(roomId);
  return {
    /** The state, the cursor of the event stream after it, and the time at the service in ms. */
    async state(): Promise<{ state: RoomState; cursor: string | undefined; serverTime: number | undefined }> {
      const response = await http.send('GET', `${path}/state`, { headers });
      const state = (await response.json()) as RoomState;
      const serverTime = Date.parse(response.headers.get('Date') ?? '');
      const cursor = response.headers.get('Position') ?? undefined;
      return { state, cursor, serverTime: Number.isNaN(serverTime) ? undefined : serverTime };
    },
    invite: (inviteToken: string): Promise<{ inviteId: string; expiresAt: string }> =>
      http.json('POST', `${path}/invites`, { headers, body: { inviteToken } }),
    post: (body: Envelope, idempotencyKey: string): Promise<{ message: StoredMessage }> =>
      http.json('POST', `${path}/messages`, { headers, body, idempotencyKey, signal: AbortSignal.timeout(POST_MS) }),
    burn: (): Promise<unknown> => http.json('POST', `${path}/burn`, { headers, body: {} }),
  };
}

export type RoomApi = ReturnType<typeof createRoomApi>;
