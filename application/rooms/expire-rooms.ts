/** Tells the log of rooms whose time is up; by the clock they have been closed since that moment. */
import { roomStream } from '../../domain/rooms/room.js';
import type { HandleCommand } from '../command/index.js';
import { collectFailures } from '../concurrency/index.js';
import type { CommandContext, ConfirmedClock, Rows } from '../ports/index.js';
import { roomAggregate } from './aggregates.js';

export interface SweepPorts {
  readonly handle: HandleCommand;
  readonly rows: Rows;
  readonly clock: ConfirmedClock;
  readonly context: (actor: string) => CommandContext;
}

/** Often enough that content is gone within a minute of the room's end, as it is promised (docs/guide/erasure.md). */
export const SWEEP_EVERY_MS = 15_000;
/** Rooms that are looked at in one go. */
export const BATCH_SIZE = 200;

/** One round over all rooms that are due. */
export function createSweep({ handle, rows, clock, context }: SweepPorts) {
  async function expire(roomId: string, now: number) {
    const command = { type: 'ExpireRoom' as const, roomId, now };
    await handle(roomAggregate, roomStream(roomId), command, context('rooms.sweep'));
  }

  const dueBy = (now: number, from: number, limit: number) =>
    rows.find<DueRow>('rooms.state', {
      filter: { expiresAt: { $gte: from, $lte: now } },
      sort: { expiresAt: 1 },
      limit,
    });

  return async (stop: AbortSignal): Promise<void> => {
    // The certain time is asked for only where something hangs on it: to be asked, the store must write.
    if ((await dueBy(clock.now(), 0, 1)).length === 0) return;
    const now = await clock.confirmedNow();
    if (now === undefined) return;
    // By pages of their time: a room met again at the edge of two has expired already, and that is all.
    const each = collectFailures();
    for (let from = 0; !stop.aborted; ) {
      const due = await dueBy(now, from, BATCH_SIZE);
      await Promise.all(due.map(({ _id }) => each.run(expire(_id, now))));
      const last = due.at(-1)?.expiresAt ?? from;
      if (due.length < BATCH_SIZE || last === from) break;
      from = last;
    }
    each.throwFirst();
  };
}

interface DueRow {
  readonly _id: string;
  readonly expiresAt: number;
}
