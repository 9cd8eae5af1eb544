/** Snapshot format of open rooms, read when a node starts; names are encrypted with the meeting's key. */
import { meetingSubject, NAMELESS } from '../../../domain/meeting/catalog.js';
import {
  type Departed,
  initialState,
  type Person,
  type RoomState,
  type WaitingPerson,
} from '../../../domain/meeting/state.js';
import { PersistentMap } from '../../../domain/shared/index.js';
import type { SealedPart, SnapshotFormat } from '../../subscription/index.js';

/** Rooms by id. */
export type Rooms = PersistentMap<RoomState>;

type Named = Pick<WaitingPerson, 'name'>;
type Nameless<Each extends Named> = Omit<Each, 'name'>;

interface Part extends SealedPart {
  readonly roomId: string;
  readonly room: Omit<RoomState, 'people' | 'waiting' | 'departed'>;
  readonly people: readonly Nameless<Person>[];
  readonly waiting: readonly Nameless<WaitingPerson>[];
  readonly departed: readonly Nameless<Departed>[];
  /** Names of people, waiting people and departed people, in this order. */
  readonly secret?: { readonly names: readonly string[] } | undefined;
}

const nameless = <Each extends Named>({ name, ...rest }: Each) => rest;
/** Assigns names from the front of the list, removing them from it. */
const named = <Each extends object>(all: readonly Each[], names: string[]) =>
  all.map((each) => ({ ...each, name: names.shift() ?? NAMELESS }));

function partOf(roomId: string, { people, waiting, departed, ...room }: RoomState): Part {
  const names = [...people, ...waiting, ...departed].map(({ name }) => name);
  const inside = { people: people.map(nameless), waiting: waiting.map(nameless) };
  const plain = { roomId, room, ...inside, departed: departed.map(nameless) };
  return { ...plain, subject: meetingSubject(room), ...(names.length > 0 && { secret: { names } }) };
}

function roomOf({ room, people, waiting, departed, secret }: Part): RoomState {
  const names = [...(secret?.names ?? [])];
  const inside = { people: named(people, names), waiting: named(waiting, names) };
  return { ...initialState, ...room, ...inside, departed: named(departed, names) };
}

export const snapshot: SnapshotFormat<Rooms> = {
  version: 5,
  *parts(rooms) {
    for (const [roomId, room] of rooms) yield partOf(roomId, room);
  },
  from: (parts: readonly Part[]) =>
    parts.reduce((rooms, part) => rooms.set(part.roomId, roomOf(part)), PersistentMap.empty<RoomState>()),
};
