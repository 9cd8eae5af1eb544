/** Records `RoomExpired` for rooms past their end. By the clock they are closed already. */

import { roomStream } from '../../domain/rooms/room.js';
import type { KernelPorts } from '../command/index.js';
import type { ConfirmedClock } from '../ports/index.js';
import { collectFailures } from '../subscription/index.js';
import { roomAggregate } from './aggregates.js';

export interface RoomExpiryPorts extends Pick<KernelPorts, 'handle' | 'rows' | 'context'> {
  readonly clock: ConfirmedClock;
}

/** Content must be deleted within a minute of the room's end (docs/guide/erasure.md). */
export const SWEEP_EVERY_MS = 15_000;
/** Rooms expired per query. */
export const BATCH_SIZE = 200;

export function createRoomExpiry({ handle, rows, clock, context }: RoomExpiryPorts) {
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
    // Confirming the time costs the event store a write, so do it only if a room is due.
    if ((await dueBy(clock.now(), 0, 1)).length === 0) return;
    const now = await clock.confirmedNow();
    if (now === undefined) return;
    // Pages overlap at their boundary timestamp; expiring a room twice has no effect.
    const failures = collectFailures();
    for (let from = 0; !stop.aborted; ) {
      const due = await dueBy(now, from, BATCH_SIZE);
      await Promise.all(due.map(({ _id }) => failures.run(expire(_id, now))));
      const last = due.at(-1)?.expiresAt ?? from;
      if (due.length < BATCH_SIZE || last === from) break;
      from = last;
    }
    failures.throwFirst();
  };
}

interface DueRow {
  readonly _id: string;
  readonly expiresAt: number;
}
