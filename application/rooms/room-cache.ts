/** Rooms as they were shown last: while nothing happens in one, its next reader is shown the same, unread and unopened. */
import { LRUCache } from 'lru-cache';
import type { catalog, RoomsEvent } from '../../domain/rooms/catalog.js';
import { MAX_MESSAGES, messagesStream } from '../../domain/rooms/messages.js';
import { type Participant, roomStream } from '../../domain/rooms/room.js';
import type { Erasing, EventHandlers } from '../../domain/shared/index.js';
import type { AggregateStore } from '../command/index.js';
import { estimateBytes } from '../memory/estimate-size.js';
import type { Cache, Position, RevealedEvent } from '../ports/index.js';
import { messagesAggregate, roomAggregate } from './aggregates.js';

/** What is in a room by what this node knows of its streams: kept up by its own appends and by the live feed. */
export interface RoomContent {
  /** The fold's own list: another one once anybody has come, or the room is no more. */
  readonly participants: readonly Participant[];
  /** Of the newest message. */
  readonly revision: number;
}

export interface CachedRoom {
  readonly content: RoomContent;
  /** The JSON of the room up to its messages. */
  readonly head: string;
  /** The JSON of each message by its id, oldest first. */
  readonly messages: ReadonlyMap<string, string>;
  /** Everything up to here is reflected. */
  readonly position: Position;
}

type Ended = RoomsEvent<Erasing<typeof catalog>>;

const SHOWN_BYTES = 12 * 1024 * 1024;

export interface RoomCache {
  /** Undefined where this node does not remember both streams to their ends: then only the rows know. */
  content(roomId: string): RoomContent | undefined;
  /** What was shown last, whatever has happened since. */
  get(roomId: string): CachedRoom | undefined;
  /** Whether there is room for one with these messages, sealed as they are, beside others. */
  fits(messages: readonly { readonly secret: string }[]): boolean;
  /** An event of the service has been seen, and every node's streams are known up to it. */
  onPosition(position: Position): void;
  /** Of the last of these: what `content` says holds up to there. */
  livePosition(): Position;
  /** To be called at once with the content it shows. */
  set(roomId: string, shown: CachedRoom): void;
  /** Of a room that has ended nothing of what was said in it stays in memory. */
  readonly on: EventHandlers<RevealedEvent<Ended>, void>;
  readonly cache: Cache;
}

export function createRoomCache(streams: Pick<AggregateStore, 'cached'>, limitBytes = SHOWN_BYTES): RoomCache {
  const rooms = new LRUCache<string, CachedRoom>({
    maxSize: limitBytes,
    maxEntrySize: limitBytes / 2,
    sizeCalculation: ({ head, messages }, roomId) => sum([roomId, head, ...messages.keys(), ...messages.values()]),
  });

  const content: RoomCache['content'] = (roomId) => {
    const room = streams.cached(roomAggregate, roomStream(roomId));
    const messages = streams.cached(messagesAggregate, messagesStream(roomId));
    return room && messages && { participants: room.state.participants, revision: messages.revision };
  };

  let heard: Position = 0n;
  const forget = ({ data: { roomId } }: RevealedEvent<Ended>) => void rooms.delete(roomId);

  return {
    content,
    get: (roomId) => rooms.get(roomId),
    onPosition(position) {
      heard = position;
    },
    livePosition: () => heard,
    fits: (messages) =>
      messages.reduce((all, { secret }) => all + SHOWN_MORE_BYTES + estimateBytes(secret), 0) <= limitBytes / 2,
    set: (roomId, shown) => void rooms.set(roomId, shown),
    on: { RoomBurned: forget, RoomExpired: forget, RoomErased: forget },
    cache: { name: 'rooms.shown', limitBytes, bytes: () => rooms.calculatedSize },
  };
}

export const isSameContent = (shown: RoomContent, now: RoomContent | undefined): boolean =>
  shown.participants === now?.participants && shown.revision === now.revision;

/** Whether rows hold all of it: a projector may be behind, and writes several rows one after the other. */
export const isComplete = (
  { participants, revision }: RoomContent,
  people: readonly unknown[],
  messages: readonly { readonly revision: number }[],
): boolean =>
  people.length === participants.length &&
  messages.at(-1)?.revision === revision &&
  messages.length === Math.min(revision + 1, MAX_MESSAGES);

const ENTRY_BYTES = 100;
/** What is shown of a message besides its secret, at most, and its entries. */
const SHOWN_MORE_BYTES = 1000;
const sum = (texts: readonly string[]) => texts.reduce((all, each) => all + ENTRY_BYTES + estimateBytes(each), 0);
