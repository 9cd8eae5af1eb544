/** How many rooms and people there are on all nodes together, counted along with the relay's fold of the log. */
import { isEmptyLatent, type RoomState } from '../../domain/meeting/state.js';
import type { Position } from '../ports.js';
import { PATIENCE_MS } from '../settled.js';

export interface Totals {
  readonly rooms: number;
  readonly people: number;
  /** The most people there were at a time since this node began. */
  readonly peak: number;
}

export interface Census {
  totals(): Totals;
  /** Rooms that somebody made before anybody came, and nobody is in; also those that are just being made here. */
  latent(): number;
  /** A room that will be there, or not: counted until it is seen, or `failed`. */
  expect(roomId: string): void;
  failed(roomId: string): void;
  /** A room as it is now, undefined where it is no more. */
  see(roomId: string, room: RoomState | undefined): void;
  /** Everything up to here has been seen. */
  hear(position: Position): void;
  heard(): Position;
  /** True once that is the case for this position; false when it takes long. */
  hears(position: Position): Promise<boolean>;
}

interface Counted {
  readonly people: number;
  readonly isLatent: boolean;
}

/** `rooms` are there already, as of `position`. */
export function createCensus(
  rooms: Iterable<readonly [roomId: string, RoomState]>,
  position: Position,
): Census {
  const known = new Map<string, Counted>();
  const coming = new Set<string>();
  const waiting = new Set<{ readonly position: Position; readonly wake: () => void }>();
  let people = 0;
  let latent = 0;
  let peak = 0;
  let heard = position;

  function see(roomId: string, room: RoomState | undefined) {
    const before = known.get(roomId);
    const now = room && { people: room.people.length, isLatent: isEmptyLatent(room) };
    if (now) known.set(roomId, now);
    else known.delete(roomId);
    if (now) coming.delete(roomId);
    people += (now?.people ?? 0) - (before?.people ?? 0);
    latent += Number(now?.isLatent ?? false) - Number(before?.isLatent ?? false);
    peak = Math.max(peak, people);
  }

  for (const [roomId, room] of rooms) see(roomId, room);

  return {
    totals: () => ({ rooms: known.size, people, peak }),
    latent: () => latent + coming.size,
    expect: (roomId) => void coming.add(roomId),
    failed: (roomId) => void coming.delete(roomId),
    see,
    hear(position) {
      heard = position;
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
