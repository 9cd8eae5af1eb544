/** How many rooms and people there are on all nodes together, counted along with the relay's fold of the log. */
import { isEmptyLatent, type RoomState } from '../../domain/meeting/state.js';
import { PATIENCE_MS } from '../consistency/index.js';
import type { Position } from '../ports/index.js';

export interface Totals {
  readonly rooms: number;
  readonly people: number;
  /** The most people there were at a time since this node began. */
  readonly peak: number;
}

export interface Census {
  totals(): Totals;
  /** Rooms that somebody made before anybody came, and nobody is in; also those that are just being made here. */
  emptyRooms(): number;
  /** Those of them that this network has made. */
  latentOf(caller: string): number;
  /** A room that will be there, or not: counted until it is seen, or `failed`. */
  reserve(roomId: string, caller: string): void;
  failed(roomId: string): void;
  /** A room as it is now, undefined where it is no more. */
  update(roomId: string, room: RoomState | undefined): void;
  /** Everything up to here has been seen. */
  hear(position: Position): void;
  heard(): Position;
  /** True once that is the case for this position; false when it takes long. */
  hears(position: Position): Promise<boolean>;
}

interface Counted {
  readonly people: number;
  readonly isLatent: boolean;
  readonly madeBy: string | undefined;
}

/** `rooms` are there already, as of `position`; what is heard of up to `begun` was before this node began. */
export function createCensus(
  rooms: Iterable<readonly [roomId: string, RoomState]>,
  position: Position,
  begun = position,
): Census {
  const known = new Map<string, Counted>();
  const coming = new Map<string, string>();
  const byMaker = new Map<string, number>();
  const waiting = new Set<{ readonly position: Position; readonly wake: () => void }>();
  let people = 0;
  let latent = 0;
  let peak = 0;
  let heard = position;

  /** One more, or less, that is empty, of a network. */
  function count(counted: Counted | undefined, by: 1 | -1) {
    if (!counted?.isLatent) return;
    latent += by;
    const { madeBy } = counted;
    if (madeBy === undefined) return;
    const all = (byMaker.get(madeBy) ?? 0) + by;
    if (all > 0) byMaker.set(madeBy, all);
    else byMaker.delete(madeBy);
  }

  function update(roomId: string, room: RoomState | undefined) {
    const before = known.get(roomId);
    const { people: { length: inside } = [], madeBy } = room ?? {};
    const now = room && { people: inside, isLatent: isEmptyLatent(room), madeBy };
    if (now) known.set(roomId, now);
    else known.delete(roomId);
    if (now) coming.delete(roomId);
    people += (now?.people ?? 0) - (before?.people ?? 0);
    count(now, 1);
    count(before, -1);
    crowd();
  }

  function crowd() {
    if (heard >= begun) peak = Math.max(peak, people);
  }

  for (const [roomId, room] of rooms) update(roomId, room);

  return {
    totals: () => ({ rooms: known.size, people, peak: Math.max(peak, people) }),
    emptyRooms: () => latent + coming.size,
    latentOf(caller) {
      const expected = [...coming.values()].filter((each) => each === caller).length;
      return (byMaker.get(caller) ?? 0) + expected;
    },
    reserve: (roomId, caller) => void coming.set(roomId, caller),
    failed: (roomId) => void coming.delete(roomId),
    update,
    hear(position) {
      heard = position;
      crowd();
      for (const waiter of waiting) if (waiter.position <= heard) waiter.wake();
    },
    heard: () => heard,
    async hears(position) {
      if (heard >= position) return true;
      await new Promise<void>((resolve) => {
        const waiter = { position, wake: () => done() };
        const patience = setTimeout(() => done(), PATIENCE_MS);
        const done = () => {
          clearTimeout(patience);
          waiting.delete(waiter);
          resolve();
        };
        waiting.add(waiter);
      });
      return heard >= position;
    },
  };
}
