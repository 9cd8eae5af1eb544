/** Caches the decrypted JSON of rooms. Valid while no event changes the room. */
import { LRUCache } from 'lru-cache';
import type { catalog, RoomsEvent } from '../../domain/rooms/catalog.js';
import { MAX_MESSAGES, messagesStream } from '../../domain/rooms/messages.js';
import { type Participant, roomStream } from '../../domain/rooms/room.js';
import type { Erasing } from '../../domain/shared/index.js';
import type { AggregateStore } from '../command/index.js';
import { estimateBytes } from '../concurrency/index.js';
import type { Cache, Position, RevealedEvent } from '../ports/index.js';
import type { LiveEvent } from '../subscription/index.js';
import { messagesAggregate, roomAggregate } from './aggregates.js';

/** State of a room's streams on this node, updated by its own appends and by the live feed. */
export interface RoomContent {
  /** The aggregate's own array: its identity changes with every join and when the room ends. */
  readonly participants: readonly Participant[];
  /** Revision of the newest message. */
  readonly revision: number;
}

export interface CachedRoom {
  readonly content: RoomContent;
  /** The JSON of the room up to its messages. */
  readonly head: string;
  /** The JSON of each message by its id, oldest first. */
  readonly messages: ReadonlyMap<string, string>;
  /** All events up to this position are included. */
  readonly position: Position;
}

type Ended = RoomsEvent<Erasing<typeof catalog>>;

const ENDINGS: { readonly [type in Ended['type']]: true } = { RoomBurned: true, RoomExpired: true, RoomErased: true };
const hasEnded = (event: LiveEvent<typeof catalog>): event is RevealedEvent<Ended> => event.type in ENDINGS;

const SHOWN_BYTES = 12 * 1024 * 1024;

export interface RoomCache {
  /** Undefined if this node has not cached both streams up to their ends. */
  content(roomId: string): RoomContent | undefined;
  /** The last cached state, possibly outdated. */
  get(roomId: string): CachedRoom | undefined;
  /** Whether a room with these encrypted messages fits the cache. */
  fits(messages: readonly { readonly secret: string }[]): boolean;
  /** Handles the events of the live feed: drops ended rooms, so that no message content stays in memory. */
  onEvent(event: LiveEvent<typeof catalog>): void;
  /** Position that the live feed has reached; `content` is current up to it. */
  livePosition(): Position;
  /** Must be called in the same tick in which `room.content` was read. */
  set(roomId: string, room: CachedRoom): void;
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

  let livePosition: Position = 0n;

  return {
    content,
    get: (roomId) => rooms.get(roomId),
    onEvent(event) {
      if (hasEnded(event)) rooms.delete(event.data.roomId);
      livePosition = event.position;
    },
    livePosition: () => livePosition,
    fits: (messages) =>
      messages.reduce((all, { secret }) => all + MESSAGE_OVERHEAD_BYTES + estimateBytes(secret), 0) <= limitBytes / 2,
    set: (roomId, room) => void rooms.set(roomId, room),
    cache: { name: 'rooms.shown', limitBytes, bytes: () => rooms.calculatedSize },
  };
}

export const isSameContent = (cached: RoomContent, current: RoomContent | undefined): boolean =>
  cached.participants === current?.participants && cached.revision === current.revision;

/** Whether the rows are complete: a lagging projector writes several rows one by one. */
export const isComplete = (
  { participants, revision }: RoomContent,
  people: readonly unknown[],
  messages: readonly { readonly revision: number }[],
): boolean =>
  people.length === participants.length &&
  messages.at(-1)?.revision === revision &&
  messages.length === Math.min(revision + 1, MAX_MESSAGES);

const ENTRY_BYTES = 100;
/** Upper bound for a message's JSON beside its secret, with its map entry. */
const MESSAGE_OVERHEAD_BYTES = 1000;
const sum = (texts: readonly string[]) => texts.reduce((all, each) => all + ENTRY_BYTES + estimateBytes(each), 0);
