/** Reads a room: the rows of the read model, their secrets opened on the way out. */
import type { RoomsEvent } from '../../domain/rooms/catalog.js';
import { messagesStream } from '../../domain/rooms/messages.js';
import { isOpen, notFound, roomStream } from '../../domain/rooms/room.js';
import type { Rejection } from '../../domain/shared/index.js';
import type { AggregateStore } from '../command/index.js';
import { createSliceQueue } from '../concurrency/index.js';
import { awaitConsistent, type Consistency, maxPosition, type Positioned, withRows } from '../consistency/index.js';
import type { Clock, Position, ProjectionProgress, Rows, Vault } from '../ports/index.js';
import { roomAggregate } from './aggregates.js';
import type { RoomSession } from './authenticate.js';
import { isComplete, isSameContent, type CachedRoom, type RoomCache } from './room-cache.js';
import { createSharedReads } from './shared-reads.js';
import { iso, type MessageView, messageView, type ParticipantView, participantView } from './views.js';

interface StateRow extends Positioned {
  /** On the room's own row, the first. */
  readonly participants?: readonly Sealed<{ id: string; joinedAt: number }>[];
  /** On the rows after it. */
  readonly messages?: readonly MessageRow[];
}

type Sealed<Fields> = Fields & { readonly secret: string };

type MessageRow = Sealed<{
  revision: number;
  id: string;
  senderId: string;
  createdAt: number;
  expiresAt: number;
}>;

/** Messages opened in one turn: the largest of them take a few milliseconds. */
const OPENED_AT_ONCE = 16;

export interface RoomView {
  readonly roomId: string;
  readonly expiresAt: string;
  readonly participants: readonly ParticipantView[];
  readonly messages: readonly MessageView[];
}

/** A stream resumed from its position misses nothing of the room. */
export interface RoomPage extends Consistency {
  /** A `RoomView`. */
  readonly json: string;
}

export interface QueryPorts {
  readonly rows: Rows;
  readonly settled: ProjectionProgress;
  readonly vault: Vault;
  readonly streams: AggregateStore;
  readonly shown: RoomCache;
  readonly clock: Clock;
}

export type RoomQueries = ReturnType<typeof createRoomQueries>;

export function createRoomQueries({ rows, settled, vault, streams, shown, clock }: QueryPorts) {
  const readings = createSharedReads<Read | Rejection>();
  // A large room may be asked for by thousands at once: whoever does other things does not wait for them.
  const turns = createSliceQueue();

  /** `after` is a message's id: messages after it, or all when it is unknown; `seen` must be reflected. */
  async function state(caller: RoomSession, after?: string, seen: Position = 0n): Promise<RoomPage | Rejection> {
    const { roomId } = caller;
    const last = shown.get(roomId);
    if (last && maxPosition(last.position, shown.livePosition()) >= seen && isSameContent(last.content, shown.content(roomId)))
      return part({ ...last, position: maxPosition(last.position, shown.livePosition()) }, after);
    const owed = { streams: [roomStream(roomId), messagesStream(roomId)], seen };
    const reflected = await awaitConsistent(settled, 'rooms.state', owed);
    const isSmall = (shown.content(roomId)?.revision ?? SMALL) < SMALL;
    const found = isSmall
      ? await read(caller, after, reflected, last)
      : await readings(roomId, (shared) => read(caller, shared ? undefined : after, reflected, last));
    if ('rejected' in found) return found;
    // Of all who were given the same one writes its answer in each round of the event loop, and has it sent.
    if (found.messages.size >= SMALL) await turns.nextSlice();
    // It may have ended while they waited.
    if (!isOpen(streams.cached(roomAggregate, roomStream(roomId))?.state ?? caller.room, clock.now())) return notFound;
    const { consistency } = reflected;
    return { ...part(found, after), ...(consistency && { consistency }) };
  }

  /** What `last` showed needs no opening again: messages never change. */
  async function read(
    { roomId, room }: RoomSession,
    after: string | undefined,
    reflected: Consistency,
    last: CachedRoom | undefined,
  ): Promise<Read | Rejection> {
    const found = await rows.find<StateRow>('rooms.state', { filter: { room: roomId }, sort: { _id: 1 } });
    const kept = found.flatMap(({ messages = [] }) => messages);
    const people = found.find((row) => row.participants)?.participants ?? [];
    // The whole is opened where it can be kept, else what is asked for.
    const isKept = shown.content(roomId) && shown.fits(kept);
    const wanted = isKept ? kept : kept.slice(kept.findIndex(({ id }) => id === after) + 1);

    const open = async <Type extends 'ParticipantJoined' | 'MessagePosted'>({ secret }: { secret: string }) =>
      (await vault.open(roomStream(roomId), secret)) as RoomsEvent<Type>['data']['secret'] | undefined;
    const readPeople = await Promise.all(
      people.map(async (each) => {
        const person = await open<'ParticipantJoined'>(each);
        return person && participantView({ id: each.id, joinedAt: each.joinedAt, ...person });
      }),
    );
    const textOf = async ({ id, secret, senderId, createdAt, expiresAt }: MessageRow) => {
      const known = last?.messages.get(id);
      if (known !== undefined) return known;
      const envelope = (await open<'MessagePosted'>({ secret }))?.envelope;
      if (!envelope) return undefined;
      return JSON.stringify(messageView({ id, roomId, senderId, createdAt, expiresAt, envelope }));
    };
    const messages = new Map<string, string>();
    for (let from = 0; from < wanted.length; from += OPENED_AT_ONCE) {
      if (from > 0) await turns.nextSlice();
      const some = wanted.slice(from, from + OPENED_AT_ONCE);
      for (const [at, text] of (await Promise.all(some.map(textOf))).entries())
        if (text !== undefined) messages.set(some[at]!.id, text);
    }
    const readable = readPeople.filter((each) => each !== undefined);
    const isReadable = readable.length === people.length && messages.size === wanted.length;
    // What can't be read is damaged, unless the log says that the room was burned while we were reading.
    const participants = isReadable && people.length > 0 ? readable : await participantsOf(roomId);
    if (!participants) return notFound;

    const { position } = withRows(reflected, found);
    const view = { roomId, expiresAt: iso(room.expiresAt), participants, messages: [] } satisfies RoomView;
    const head = JSON.stringify(view).slice(0, -EMPTY_END.length);
    const content = shown.content(roomId);
    const now = { head, messages, position };
    if (!reflected.consistency && isReadable && content && isComplete(content, people, wanted))
      shown.set(roomId, { ...now, content });
    return now;
  }

  /** Where the room's row is still to come, gone or damaged, the log has the last word. */
  async function participantsOf(roomId: string): Promise<ParticipantView[] | undefined> {
    const { state: room } = await streams.reload(roomAggregate, roomStream(roomId));
    return isOpen(room, clock.now()) ? room.participants.map(participantView) : undefined;
  }

  return { state };
}

/** What was read of a room. */
type Read = Pick<CachedRoom, 'head' | 'messages' | 'position'>;

/** Rooms of fewer messages are read whoever else reads: they are of some megabytes at most. */
const SMALL = 64;

/** What a room without messages ends with. */
const EMPTY_END = ']}';

function part({ head, messages, position }: Read, after?: string): RoomPage {
  const ids = after === undefined ? [] : [...messages.keys()];
  const wanted = [...messages.values()].slice(ids.indexOf(after ?? '') + 1);
  return { json: head + wanted.join() + EMPTY_END, position };
}
