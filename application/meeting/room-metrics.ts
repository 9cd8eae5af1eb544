/** Counts rooms and people of all nodes, from the relay's fold of the event log. */
import type { catalog } from '../../domain/meeting/catalog.js';
import { isEmptyLatent, type RoomState } from '../../domain/meeting/state.js';
import { createPositionTracker } from '../consistency/index.js';
import type { Position } from '../ports/index.js';
import type { LiveEvent } from '../subscription/index.js';
import type { Rooms } from './audience/snapshot.js';

export interface Totals {
  readonly rooms: number;
  readonly people: number;
  /** Highest number of people at one time since this node started. */
  readonly peak: number;
}

export type RoomMetrics = ReturnType<typeof createRoomMetrics>;

interface Counted {
  readonly people: number;
  readonly isLatent: boolean;
  readonly madeBy: string | undefined;
}

/**
 * Creates the counter from `rooms` as of `position`. Events up to `startPosition` precede this node and do not
 * count for the peak.
 */
export function createRoomMetrics(
  rooms: Iterable<readonly [roomId: string, RoomState]>,
  position: Position,
  startPosition = position,
) {
  const counted = new Map<string, Counted>();
  const reserved = new Map<string, string>();
  const emptyByCreator = new Map<string, number>();
  const tracker = createPositionTracker(position);
  let people = 0;
  let empty = 0;
  let peak = 0;

  /** Adds or removes an empty room of a network. */
  function count(room: Counted | undefined, by: 1 | -1) {
    if (!room?.isLatent) return;
    empty += by;
    const { madeBy } = room;
    if (madeBy === undefined) return;
    const all = (emptyByCreator.get(madeBy) ?? 0) + by;
    if (all > 0) emptyByCreator.set(madeBy, all);
    else emptyByCreator.delete(madeBy);
  }

  /** Updates a room; undefined once it has ended. */
  function update(roomId: string, room: RoomState | undefined) {
    const before = counted.get(roomId);
    const { people: { length: peopleInRoom } = [], madeBy } = room ?? {};
    const now = room && { people: peopleInRoom, isLatent: isEmptyLatent(room), madeBy };
    if (now) counted.set(roomId, now);
    else counted.delete(roomId);
    if (now) reserved.delete(roomId);
    people += (now?.people ?? 0) - (before?.people ?? 0);
    count(now, 1);
    count(before, -1);
    updatePeak();
  }

  function updatePeak() {
    if (tracker.position() >= startPosition) peak = Math.max(peak, people);
  }

  for (const [roomId, room] of rooms) update(roomId, room);

  return {
    totals: (): Totals => ({ rooms: counted.size, people, peak: Math.max(peak, people) }),
    /** Rooms created in advance that are empty, including those being created on this node. */
    emptyRooms: () => empty + reserved.size,
    /** Those of them created by this network. */
    emptyRoomsOf(caller: string) {
      const expected = [...reserved.values()].filter((each) => each === caller).length;
      return (emptyByCreator.get(caller) ?? 0) + expected;
    },
    /** Counts a room that is being created, until `update` reports it or `failed` is called. */
    reserve: (roomId: string, caller: string) => void reserved.set(roomId, caller),
    failed: (roomId: string) => void reserved.delete(roomId),
    update,
    /** Records the position up to which all events have been counted. */
    advance(position: Position) {
      tracker.advance(position);
      updatePeak();
    },
    lastPosition: tracker.position,
    /** Resolves to true once the position is reached, to false on a timeout. */
    awaitPosition: (position: Position) => tracker.wait(position),
  };
}

/** Creates the handler that counts rooms by the state after each event. */
export const countRooms =
  ({ update, advance }: RoomMetrics, rooms: () => Pick<Rooms, 'get'>) =>
  (event: LiveEvent<typeof catalog>): void => {
    if ('roomId' in event.data) update(event.data.roomId, rooms().get(event.data.roomId));
    advance(event.position);
  };
