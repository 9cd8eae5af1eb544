/** Composes retention of meetings: attendance, expiry of rooms, erasure. */
import { attendanceRoute, createAttendanceBudget } from '../../../adapters/http/meeting/attendance.js';
import { createAttendance } from '../../../application/meeting/attendance.js';
import {
  createMeetingRetention,
  createRoomSweep,
  SWEEP_EVERY_MS,
} from '../../../application/meeting/end-expired-rooms.js';
import { erasureReaction } from '../../../application/meeting/erase-meetings.js';
import { RETENTION_EVERY_MS } from '../../../application/subscription/index.js';
import type { RoomState } from '../../../domain/meeting/state.js';
import { endedMeetings } from '../../../projections/meeting/ended-meetings.js';
import type { RunningService, ServiceContext } from '../../node/service.js';

export const retentionProjections = [endedMeetings];

export interface RetentionOptions extends Pick<ServiceContext, 'kernel' | 'values' | 'metrics'> {
  /** Open rooms, as this node knows them. */
  readonly rooms: () => Iterable<readonly [roomId: string, RoomState]>;
}

export function createRetention({
  kernel,
  values,
  metrics,
  rooms,
}: RetentionOptions): Pick<RunningService, 'routes' | 'reactions' | 'periodic'> {
  const ports = { ...kernel, context: kernel.systemContext };
  const mayRun = kernel.clock.inSync;
  const sweep = createRoomSweep({ ...ports, rooms });
  const retention = createMeetingRetention({ ...ports, days: values['meeting.attendanceDays'] });
  const attendanceBudget = createAttendanceBudget();
  metrics.budget(attendanceBudget);
  return {
    routes: [attendanceRoute(createAttendance(kernel), attendanceBudget)],
    reactions: [erasureReaction(kernel)],
    periodic: [
      { name: 'meeting.sweep', everyMs: SWEEP_EVERY_MS, run: sweep, mayRun },
      { name: 'meeting.retention', everyMs: RETENTION_EVERY_MS, run: retention, mayRun },
    ],
  };
}
