/** Tells the log of rooms whose time is up; by the clock they have been closed since that moment. */
import { roomStream } from '../../domain/rooms/room.js';
import { isRejection } from '../../domain/shared/decider.js';
import type { Handle } from '../handle.js';
import type { Clock, CommandContext, Position, Rows, Settled } from '../ports.js';
import { roomKind } from './kinds.js';

export interface SweepPorts {
  readonly handle: Handle;
  readonly rows: Rows;
  readonly settled: Settled;
  readonly clock: Clock;
  readonly context: (actor: string) => CommandContext;
}

/** Often enough that content is gone within a minute of the room's end (answers-rooms, Rules). */
export const SWEEP_EVERY_MS = 15_000;
const AT_ONCE = 200;

/** One round over all rooms that are due. */
export function createSweep({ handle, rows, settled, clock, context }: SweepPorts) {
  async function expire(roomId: string): Promise<Position> {
    const command = { type: 'ExpireRoom' as const, roomId, now: clock.now() };
    const outcome = await handle(roomKind, roomStream(roomId), command, context('rooms.sweep'));
    return isRejection(outcome) ? 0n : outcome.position;
  }

  return async (stop: AbortSignal): Promise<void> => {
    for (let more = true; more && !stop.aborted; ) {
      const due = await rows.find<{ _id: string }>('rooms.state', {
        filter: { expiresAt: { $lte: clock.now() } },
        sort: { expiresAt: 1 },
        limit: AT_ONCE,
      });
      let latest = 0n;
      for (const position of await Promise.all(due.map(({ _id }) => expire(_id)))) {
        if (position > latest) latest = position;
      }
      // Rows of the rooms just expired must be gone before the next look, or it would find them again.
      more = due.length === AT_ONCE && (await settled.wait('rooms', latest));
    }
  };
}
