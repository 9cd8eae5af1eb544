/** Scheduled jobs that end expired rooms and erase meetings after their retention period. */

import { isExpired, type RoomState, roomStream } from '../../domain/meeting/state.js';
import type { KernelPorts } from '../command/index.js';
import type { ConfirmedClock, Rows } from '../ports/index.js';
import { collectFailures } from '../subscription/index.js';
import { roomAggregate } from './aggregates.js';

/** Milliseconds between sweeps. A room expires by the clock; its end event follows at the next sweep. */
export const SWEEP_EVERY_MS = 15_000;
const DAY_MS = 86_400_000;
/** Rooms or meetings processed concurrently. */
export const BATCH_SIZE = 50;

interface SweepPorts extends Pick<KernelPorts, 'handle' | 'context'> {
  readonly clock: ConfirmedClock;
}

export interface RoomSweepPorts extends SweepPorts {
  /** Returns the open rooms as this node knows them. */
  readonly rooms: () => Iterable<readonly [roomId: string, RoomState]>;
}

/** Ends all expired rooms. Requests the confirmed time only if there are some. */
export const createRoomSweep =
  ({ handle, clock, context, rooms }: RoomSweepPorts) =>
  async (stop: AbortSignal): Promise<void> => {
    const due = [...rooms()].filter(([, room]) => isExpired(room, clock.now())).map(([roomId]) => roomId);
    if (due.length === 0) return;
    const now = await clock.confirmedNow();
    if (now === undefined) return;
    const end = (roomId: string) =>
      handle(roomAggregate, roomStream(roomId), { type: 'EndRoom', roomId, now }, context('meeting.sweep'));
    const failures = collectFailures();
    for (let offset = 0; offset < due.length && !stop.aborted; offset += BATCH_SIZE)
      await Promise.all(due.slice(offset, offset + BATCH_SIZE).map((roomId) => failures.run(end(roomId))));
    failures.throwFirst();
  };

export interface RetentionPorts extends SweepPorts {
  readonly rows: Rows;
  /** Days the attendance of an ended meeting stays readable. */
  readonly days: number;
}

interface EndedRow {
  readonly _id: string;
  readonly roomId: string;
  readonly endedAt: number;
}

/** Erases all meetings past their retention period. */
export const createMeetingRetention =
  ({ handle, clock, context, rows, days }: RetentionPorts) =>
  async (stop: AbortSignal): Promise<void> => {
    const now = await clock.confirmedNow();
    if (now === undefined) return;
    const until = now - days * DAY_MS;
    const erase = ({ _id: meetingId, roomId }: EndedRow) => {
      const command = { type: 'EraseMeeting' as const, roomId, meetingId, now };
      return handle(roomAggregate, roomStream(roomId), command, context('meeting.retention'));
    };
    // Paged by end time: a meeting at the boundary of two pages is processed twice, and erasing twice does
    // nothing.
    const failures = collectFailures();
    for (let from = 0; !stop.aborted; ) {
      const due = await rows.find<EndedRow>('meeting.ended', {
        filter: { endedAt: { $gte: from, $lte: until } },
        sort: { endedAt: 1 },
        limit: BATCH_SIZE,
      });
      await Promise.all(due.map((row) => failures.run(erase(row))));
      const last = due.at(-1)?.endedAt ?? from;
      if (due.length < BATCH_SIZE || last === from) break;
      from = last;
    }
    failures.throwFirst();
  };
