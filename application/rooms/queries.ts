/** Reads the state of a room from the read model, decrypts it, and caches the result. */

import { LRUCache } from 'lru-cache';
import type { catalog, RoomsEvent } from '../../domain/rooms/catalog.js';
import { MAX_MESSAGES, messagesStream } from '../../domain/rooms/messages.js';
import { isOpen, notFound, type Participant, roomStream } from '../../domain/rooms/room.js';
import type { Erasing, Rejection } from '../../domain/shared/index.js';
import type { AggregateStore, KernelPorts } from '../command/index.js';
import {
  createFairSemaphore,
  createFreshSingleFlight,
  createSliceQueue,
  estimateBytes,
  REQUEST_MS,
} from '../concurrency/index.js';
import { awaitConsistent, type Consistency, maxPosition, type PositionedRow, withRows } from '../consistency/index.js';
import type { Cache, Position, RevealedEvent } from '../ports/index.js';
import { handleByType } from '../subscription/index.js';
import { messagesAggregate, roomAggregate } from './aggregates.js';
import { iso, type MessageView, messageView, type ParticipantView, participantView } from './audience.js';
import type { RoomSession } from './authenticate.js';

interface StateRow extends PositionedRow {
  /** Only on the room's own row, which sorts first. */
  readonly participants?: readonly Encrypted<{ id: string; joinedAt: number }>[];
  /** Only on message rows. */
  readonly messages?: readonly MessageRow[];
}

type Encrypted<Fields> = Fields & { readonly secret: string };

type MessageRow = Encrypted<{
  revision: number;
  id: string;
  senderId: string;
  createdAt: number;
  expiresAt: number;
}>;

/** Concurrent reads of large rooms; each holds its rows and their decrypted contents, tens of megabytes. */
const MAX_READS = 2;
/** Rooms that wait for such a read; not below the requests that a node admits. */
const MAX_WAITING = 4000;
/** Messages decrypted between two yields to the event loop; the largest take a few milliseconds. */
const DECRYPT_BATCH = 16;

export interface RoomView {
  readonly roomId: string;
  readonly expiresAt: string;
  readonly participants: readonly ParticipantView[];
  readonly messages: readonly MessageView[];
}

/** A stream resumed from the page's position misses no event of the room. */
export interface RoomPage extends Consistency {
  /** A serialized `RoomView`. */
  readonly json: string;
}

export interface QueryPorts
  extends Pick<KernelPorts, 'rows' | 'projectionProgress' | 'vault' | 'aggregates' | 'clock'> {
  readonly cache: RoomCache;
  /** Position that the live feed has reached; cached rooms are current up to it. */
  readonly livePosition: () => Position;
}

export type RoomQueries = ReturnType<typeof createRoomQueries>;

export function createRoomQueries(ports: QueryPorts) {
  const { rows, projectionProgress, vault, aggregates, cache, livePosition, clock } = ports;
  const singleFlight = createFreshSingleFlight();
  const limitReads = createFairSemaphore('a large room', MAX_READS, MAX_WAITING);
  // Thousands of clients may request a large room together; slicing keeps other requests responsive.
  const slices = createSliceQueue();

  /**
   * Returns the room's state.
   *
   * @param after Message id. Only later messages are returned, or all if it is unknown.
   * @param seen The state includes all events up to this position.
   */
  async function state(caller: RoomSession, after?: string, seen: Position = 0n): Promise<RoomPage | Rejection> {
    const { roomId } = caller;
    const arrivedAt = performance.now();
    const last = cache.get(roomId);
    if (
      last &&
      maxPosition(last.position, livePosition()) >= seen &&
      isSameContent(last.content, cache.content(roomId))
    )
      return toPage({ ...last, position: maxPosition(last.position, livePosition()) }, after);
    const required = { streams: [roomStream(roomId), messagesStream(roomId)], seenByCaller: seen };
    const basis = await awaitConsistent(projectionProgress, 'rooms.state', required);
    const isSmall = (cache.content(roomId)?.revision ?? SMALL_ROOM) < SMALL_ROOM;
    const found = isSmall
      ? await read(caller, after, basis, last)
      : await singleFlight(roomId, (isShared) =>
          limitReads(() => read(caller, isShared ? undefined : after, basis, last), '', {
            maxWaitMs: REQUEST_MS - (performance.now() - arrivedAt),
          }),
        );
    if ('rejected' in found) return found;
    // Readers that share a large result send it one per event-loop turn, to bound memory.
    if (found.messages.size >= SMALL_ROOM) await slices.nextSlice();
    // The room may have ended during the wait.
    if (!isOpen(aggregates.cached(roomAggregate, roomStream(roomId))?.state ?? caller.room, clock.now()))
      return notFound;
    const { consistency } = basis;
    return { ...toPage(found, after), ...(consistency && { consistency }) };
  }

  /** Reuses the messages of `last`, as messages never change. */
  async function read(
    { roomId, room }: RoomSession,
    after: string | undefined,
    basis: Consistency,
    last: CachedRoom | undefined,
  ): Promise<RoomContents | Rejection> {
    const found = await rows.find<StateRow>('rooms.state', { filter: { room: roomId }, sort: { _id: 1 } });
    const stored = found.flatMap(({ messages = [] }) => messages);
    const memberRows = found.find((row) => row.participants)?.participants ?? [];
    // Decrypt all messages if the result fits the cache, else only the requested ones.
    const isCacheable = cache.content(roomId) && cache.fits(stored);
    const requested = isCacheable ? stored : stored.slice(stored.findIndex(({ id }) => id === after) + 1);

    const decrypt = async <Type extends 'ParticipantJoined' | 'MessagePosted'>({ secret }: { secret: string }) =>
      (await vault.open(roomStream(roomId), secret)) as RoomsEvent<Type>['data']['secret'] | undefined;
    const members = await Promise.all(
      memberRows.map(async (each) => {
        const member = await decrypt<'ParticipantJoined'>(each);
        return member && participantView({ id: each.id, joinedAt: each.joinedAt, ...member });
      }),
    );
    const textOf = async ({ id, secret, senderId, createdAt, expiresAt }: MessageRow) => {
      const cached = last?.messages.get(id);
      if (cached !== undefined) return cached;
      const envelope = (await decrypt<'MessagePosted'>({ secret }))?.envelope;
      if (!envelope) return undefined;
      return JSON.stringify(messageView({ id, roomId, senderId, createdAt, expiresAt, envelope }));
    };
    const messages = new Map<string, string>();
    for (let from = 0; from < requested.length; from += DECRYPT_BATCH) {
      if (from > 0) await slices.nextSlice();
      const batch = requested.slice(from, from + DECRYPT_BATCH);
      for (const [at, text] of (await Promise.all(batch.map(textOf))).entries())
        if (text !== undefined) messages.set(batch[at]!.id, text);
    }
    const readableMembers = members.filter((each) => each !== undefined);
    const isReadable = readableMembers.length === memberRows.length && messages.size === requested.length;
    // Unreadable rows mean that the room was burned during the read, or that they are damaged. The log decides.
    const participants = isReadable && memberRows.length > 0 ? readableMembers : await participantsOf(roomId);
    if (!participants) return notFound;

    const { position } = withRows(basis, found);
    const view = { roomId, expiresAt: iso(room.expiresAt), participants, messages: [] } satisfies RoomView;
    const head = JSON.stringify(view).slice(0, -EMPTY_END.length);
    const content = cache.content(roomId);
    const contents = { head, messages, position };
    if (!basis.consistency && isReadable && content && isComplete(content, memberRows, requested))
      cache.set(roomId, { ...contents, content });
    return contents;
  }

  /** Reads participants from the event log, where the room's row is missing or damaged. */
  async function participantsOf(roomId: string): Promise<ParticipantView[] | undefined> {
    const { state: room } = await aggregates.reload(roomAggregate, roomStream(roomId));
    return isOpen(room, clock.now()) ? room.participants.map(participantView) : undefined;
  }

  return { state };
}

/** Decrypted contents of a room. */
type RoomContents = Pick<CachedRoom, 'head' | 'messages' | 'position'>;

/** Rooms with fewer messages, a few megabytes at most, skip the limit on concurrent reads. */
const SMALL_ROOM = 64;

/** End of the JSON of a room without messages. */
const EMPTY_END = ']}';

function toPage({ head, messages, position }: RoomContents, after?: string): RoomPage {
  const ids = after === undefined ? [] : [...messages.keys()];
  const requested = [...messages.values()].slice(ids.indexOf(after ?? '') + 1);
  return { json: head + requested.join() + EMPTY_END, position };
}

/** State of a room's streams on this node, updated by its own appends and by the live feed. */
interface RoomContent {
  /** The aggregate's own array: its identity changes with every join and when the room ends. */
  readonly participants: readonly Participant[];
  /** Revision of the newest message. */
  readonly revision: number;
}

interface CachedRoom {
  readonly content: RoomContent;
  /** The JSON of the room up to its messages. */
  readonly head: string;
  /** The JSON of each message by its id, oldest first. */
  readonly messages: ReadonlyMap<string, string>;
  /** All events up to this position are included. */
  readonly position: Position;
}

type Ended = RoomsEvent<Erasing<typeof catalog>>;

/** Bytes of decrypted rooms. */
const CACHE_BYTES = 12 * 1024 * 1024;

export type RoomCache = ReturnType<typeof createRoomCache>;

/** Caches the decrypted JSON of rooms. Valid while no event changes the room. */
export function createRoomCache(aggregates: Pick<AggregateStore, 'cached'>, limitBytes = CACHE_BYTES) {
  const rooms = new LRUCache<string, CachedRoom>({
    maxSize: limitBytes,
    maxEntrySize: limitBytes / 2,
    sizeCalculation: ({ head, messages }, roomId) => sum([roomId, head, ...messages.keys(), ...messages.values()]),
  });

  /** Undefined if this node has not cached both streams up to their ends. */
  const content = (roomId: string): RoomContent | undefined => {
    const room = aggregates.cached(roomAggregate, roomStream(roomId));
    const messages = aggregates.cached(messagesAggregate, messagesStream(roomId));
    return room && messages && { participants: room.state.participants, revision: messages.revision };
  };

  const drop = ({ data }: RevealedEvent<Ended>) => void rooms.delete(data.roomId);

  return {
    content,
    /** The last cached state, possibly outdated. */
    get: (roomId: string) => rooms.get(roomId),
    /** Handles the events of the live feed: drops ended rooms, so that no message content stays in memory. */
    onEvent: handleByType<RevealedEvent<Ended>>({ RoomBurned: drop, RoomExpired: drop, RoomErased: drop }),
    /** Whether a room with these encrypted messages fits the cache. */
    fits: (messages: readonly { readonly secret: string }[]): boolean =>
      messages.reduce((all, { secret }) => all + MESSAGE_OVERHEAD_BYTES + estimateBytes(secret), 0) <= limitBytes / 2,
    /** Must be called in the same tick in which `room.content` was read. */
    set: (roomId: string, room: CachedRoom): void => void rooms.set(roomId, room),
    cache: { name: 'rooms.shown', limitBytes, bytes: () => rooms.calculatedSize } satisfies Cache,
  };
}

const isSameContent = (cached: RoomContent, current: RoomContent | undefined): boolean =>
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
