/** Messages of a room, encrypted end to end; the newest 1000 are kept. Stream `rooms.messages-<id>`. */
import type { Decider, Evolve, Rejection } from '../shared/index.js';
import type { Envelope, RoomsEvent } from './catalog.js';

export const MAX_MESSAGES = 1000;
const WINDOW_MS = 60_000;
export const MAX_POSTS_PER_PARTICIPANT = 40;
export const MAX_POSTS_PER_ROOM = 120;

export interface MessagesState {
  /** Digests of sender and envelope, one per retained message; a repeated digest is a replay. */
  readonly digests: readonly string[];
  /** Posts in the minute before the newest message. */
  readonly recent: readonly { readonly at: number; readonly by: string }[];
}

export interface PostMessage {
  readonly type: 'PostMessage';
  readonly roomId: string;
  readonly messageId: string;
  readonly by: string;
  /** Digest of sender and envelope. */
  readonly digest: string;
  readonly envelope: Envelope;
  /** End of the room and of the message. */
  readonly expiresAt: number;
  readonly now: number;
}

export type MessagePosted = RoomsEvent<'MessagePosted'>;

export const messagesStream = (roomId: string): string => `rooms.messages-${roomId}`;

const initialState: MessagesState = { digests: [], recent: [] };

function decide(command: PostMessage, { digests, recent }: MessagesState): readonly MessagePosted[] | Rejection {
  const { roomId, messageId, by, digest, envelope, expiresAt, now } = command;
  const inWindow = recent.filter(isWithin(now));
  const ownPosts = inWindow.filter((each) => each.by === by);
  const retryAfterMs = Math.max(
    waitMs(ownPosts, MAX_POSTS_PER_PARTICIPANT, now),
    waitMs(inWindow, MAX_POSTS_PER_ROOM, now),
  );
  if (retryAfterMs > 0) return { rejected: 'rooms/too-many-messages', kind: 'limit', retryAfterMs };
  if (digests.includes(digest)) return { rejected: 'rooms/message-replayed', kind: 'conflict' };
  const data = { roomId, messageId, senderId: by, createdAt: now, expiresAt, digest, secret: { envelope } };
  return [{ type: 'MessagePosted', data }];
}

/** Ignores times ahead of the clock too: after it was set back they would count until it catches up. */
const isWithin =
  (now: number) =>
  ({ at }: { readonly at: number }): boolean =>
    Math.abs(now - at) < WINDOW_MS;

/** Milliseconds until the sliding window accepts a post; 0 if it does now. */
const waitMs = (posts: MessagesState['recent'], limit: number, now: number): number => {
  const oldest = posts[posts.length - limit];
  return oldest ? oldest.at + WINDOW_MS - now : 0;
};

const evolve: Evolve<MessagesState, MessagePosted> = {
  MessagePosted: ({ digests, recent }, { digest, createdAt, senderId }) => ({
    digests: [...digests.slice(1 - MAX_MESSAGES), digest],
    recent: [...recent.filter(isWithin(createdAt)), { at: createdAt, by: senderId }],
  }),
};

export const messages: Decider<MessagesState, PostMessage, MessagePosted> = {
  initialState,
  decide,
  evolve,
};
