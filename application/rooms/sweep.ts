/** Tells the log of rooms whose time is up; by the clock they have been closed since that moment. */
import { roomStream } from '../../domain/rooms/room.js';
import type { Handle } from '../handle.js';
import type { Clock, CommandContext, Rows } from '../ports.js';
import { roomKind } from './kinds.js';

export interface SweepPorts {
  readonly handle: Handle;
  readonly rows: Rows;
  readonly clock: Clock;
  readonly context: (actor: string) => CommandContext;
}

/** Often enough that content is gone within a minute of the room's end (answers-rooms, Rules). */
export const SWEEP_EVERY_MS = 15_000;
/** Rooms that are looked at in one go. */
export const AT_ONCE = 200;

/** One round over all rooms that are due. */
export function createSweep({ handle, rows, clock, context }: SweepPorts) {
  async function expire(roomId: string) {
    const command = { type: 'ExpireRoom' as const, roomId, now: clock.now() };
    await handle(roomKind, roomStream(roomId), command, context('rooms.sweep'));
  }

  return async (stop: AbortSignal): Promise<void> => {
    // By pages of their time: a room met again at the edge of two has expired already, and that is all.
    for (let from = 0; !stop.aborted; ) {
      const due = await rows.find<DueRow>('rooms.state', {
        filter: { expiresAt: { $gte: from, $lte: clock.now() } },
        sort: { expiresAt: 1 },
        limit: AT_ONCE,
      });
      await Promise.all(due.map(({ _id }) => expire(_id)));
      const last = due.at(-1)?.expiresAt ?? from;
      if (due.length < AT_ONCE || last === from) return;
      from = last;
    }
  };
}

interface DueRow {
  readonly _id: string;
  readonly expiresAt: number;
}
