/** What is kept of meetings and for how long, put together: attendance, the end of rooms, erasure. */
import { attendanceRoute, createAttendanceBudget } from '../../../adapters/http/meeting/attendance.js';
import { createAttendance } from '../../../application/meeting/attendance.js';
import {
  createMeetingRetention,
  createRoomSweep,
  SWEEP_EVERY_MS,
} from '../../../application/meeting/end-expired-rooms.js';
import { erasureReaction } from '../../../application/meeting/erase-meetings.js';
import { ASK_EVERY_MS } from '../../../application/time/index.js';
import type { RoomState } from '../../../domain/meeting/state.js';
import { ended } from '../../../projections/meeting/ended-meetings.js';
import type { RunningService, ServiceContext } from '../../node/service.js';

export const keepingProjections = [ended];

export interface KeepingOptions extends Pick<ServiceContext, 'kernel' | 'values' | 'metrics'> {
  /** Those that are open, as this node knows them. */
  readonly rooms: () => Iterable<readonly [roomId: string, RoomState]>;
}

export function createKeeping({
  kernel,
  values,
  metrics,
  rooms,
}: KeepingOptions): Pick<RunningService, 'routes' | 'reactions' | 'periodic'> {
  const ports = { ...kernel, context: kernel.systemContext };
  const mayRun = kernel.clock.inSync;
  const sweep = createRoomSweep({ ...ports, rooms });
  const retention = createMeetingRetention({
    ...ports,
    clock: kernel.lasting,
    days: values['meeting.attendanceDays'],
  });
  const attendances = createAttendanceBudget();
  metrics.budget(attendances);
  return {
    routes: [attendanceRoute(createAttendance(kernel), attendances)],
    reactions: [erasureReaction(kernel)],
    periodic: [
      { name: 'meeting.sweep', everyMs: SWEEP_EVERY_MS, run: sweep, mayRun },
      { name: 'meeting.retention', everyMs: ASK_EVERY_MS, run: retention, mayRun },
    ],
  };
}
