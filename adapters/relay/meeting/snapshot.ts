/** The rooms that are open, as they are kept for the next start of a node: what people are called is sealed under their meeting's key. */
import type { SealedPart } from '../../../application/follow/sealed-parts.js';
import type { SnapshotForm } from '../../../application/follow/seed.js';
import { meetingSubject, NAMELESS } from '../../../domain/meeting/catalog.js';
import { initialState, type Person, type RoomState, type Waiting } from '../../../domain/meeting/state.js';
import { PersistentMap } from '../../../domain/shared/persistent-map.js';

/** By id. */
export type Rooms = PersistentMap<RoomState>;

type Nameless<Each extends Waiting> = Omit<Each, 'name'>;

interface Part extends SealedPart {
  readonly roomId: string;
  readonly room: Omit<RoomState, 'people' | 'waiting'>;
  readonly people: readonly Nameless<Person>[];
  readonly waiting: readonly Nameless<Waiting>[];
  /** In this order. */
  readonly secret?: { readonly names: readonly string[] } | undefined;
}

const nameless = <Each extends Waiting>({ name, ...rest }: Each) => rest;
const named = <Each extends Nameless<Waiting>>(all: readonly Each[], names: readonly string[]) =>
  all.map((each, index) => ({ ...each, name: names[index] ?? NAMELESS }));

function partOf(roomId: string, { people, waiting, ...room }: RoomState): Part {
  const names = [...people, ...waiting].map(({ name }) => name);
  const plain = { roomId, room, people: people.map(nameless), waiting: waiting.map(nameless) };
  return { ...plain, subject: meetingSubject(room), ...(names.length > 0 && { secret: { names } }) };
}

function roomOf({ room, people, waiting, secret }: Part): RoomState {
  const names = secret?.names ?? [];
  const inside = { people: named(people, names), waiting: named(waiting, names.slice(people.length)) };
  return { ...initialState, ...room, ...inside };
}

export const snapshot: SnapshotForm<Rooms> = {
  version: 3,
  *parts(rooms) {
    for (const [roomId, room] of rooms) yield partOf(roomId, room);
  },
  from: (parts: readonly Part[]) =>
    parts.reduce((rooms, part) => rooms.set(part.roomId, roomOf(part)), PersistentMap.empty<RoomState>()),
};
