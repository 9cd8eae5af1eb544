/** The messages of a room, the newest 1000. Stream `rooms.messages-<id>`; the server stays blind to what they say. */
import type { Decider, Evolve, Rejection, Sealed } from '../shared/index.js';
import type { Envelope, RoomsEvent } from './catalog.js';

export const MAX_MESSAGES = 1000;
const WINDOW_MS = 60_000;
export const MAX_POSTS_PER_PARTICIPANT = 40;
export const MAX_POSTS_PER_ROOM = 120;

export interface MessagesState {
  /** Sender and envelope of the kept messages, as one digest each: an identical one is a replay. */
  readonly digests: readonly string[];
  /** Who posted when, within the last minute before the newest message. */
  readonly recent: readonly { readonly at: number; readonly by: string }[];
}

export interface PostMessage {
  readonly type: 'PostMessage';
  readonly roomId: string;
  readonly messageId: string;
  readonly by: string;
  /** Of sender and envelope together. */
  readonly digest: string;
  readonly envelope: Envelope;
  /** When the room ends; the message with it. */
  readonly expiresAt: number;
  readonly now: number;
}

export type MessagePosted = RoomsEvent<'MessagePosted'>;

export const messagesStream = (roomId: string): string => `rooms.messages-${roomId}`;

const initialState: MessagesState = { digests: [], recent: [] };

function decide(command: PostMessage, { digests, recent }: MessagesState): readonly MessagePosted[] | Rejection {
  const { roomId, messageId, by, digest, envelope, expiresAt, now } = command;
  const inWindow = recent.filter(isWithin(now));
  const mine = inWindow.filter((each) => each.by === by);
  const retryAfterMs = Math.max(untilFree(mine, MAX_POSTS_PER_PARTICIPANT, now), untilFree(inWindow, MAX_POSTS_PER_ROOM, now));
  if (retryAfterMs > 0) return { rejected: 'rooms/too-many-messages', kind: 'limit', retryAfterMs };
  if (digests.includes(digest)) return { rejected: 'rooms/message-replayed', kind: 'conflict' };
  const data = { roomId, messageId, senderId: by, createdAt: now, expiresAt, digest, secret: { envelope } };
  return [{ type: 'MessagePosted', data }];
}

/** A clock that was set back leaves times behind it that would count for as long as it is behind: they do not. */
const isWithin =
  (now: number) =>
  ({ at }: { readonly at: number }): boolean =>
    Math.abs(now - at) < WINDOW_MS;

/** A place in the sliding window becomes free when the oldest that counts leaves it; 0 when one is free. */
const untilFree = (posts: MessagesState['recent'], most: number, now: number): number => {
  const oldest = posts[posts.length - most];
  return oldest ? oldest.at + WINDOW_MS - now : 0;
};

/** The rules look at no secret, so that they fold messages as they stand in the log. */
type Folded = MessagePosted | Sealed<MessagePosted>;

const evolve: Evolve<MessagesState, Folded> = {
  MessagePosted: ({ digests, recent }, { digest, createdAt, senderId }) => ({
    digests: [...digests.slice(1 - MAX_MESSAGES), digest],
    recent: [...recent.filter(isWithin(createdAt)), { at: createdAt, by: senderId }],
  }),
};

export const messages: Decider<MessagesState, PostMessage, MessagePosted, Folded> = {
  initialState,
  decide,
  evolve,
};
