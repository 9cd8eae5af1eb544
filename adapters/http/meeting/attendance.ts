/** HTTP route that returns the attendance report of a meeting. */
import { type Budget, createBudget, streamList } from '../../../application/concurrency/index.js';
import { type Attendance, MAX_ATTENDANCES } from '../../../application/meeting/attendance.js';
import { roomNotFound } from '../../../domain/meeting/join.js';
import { roomIdOf } from '../../../domain/meeting/room-id.js';
import { isRejection } from '../../../domain/shared/index.js';
import { overBudgetProblem } from '../server/budgets.js';
import { networkOf } from '../server/client-network.js';
import { type Route, route } from '../server/route.js';
import { streamedJson } from '../server/streamed-json.js';
import { attendanceReport } from './schemas.js';

const NO_STORE = { 'Cache-Control': 'no-store' };

export const createAttendanceBudget = (): Budget => createBudget('meeting.attendance', MAX_ATTENDANCES);

export const attendanceRoute = (attendance: Attendance, budget: Budget): Route =>
  route({
    method: 'GET',
    path: '/api/rooms/:roomId/attendance',
    summary: 'Get the attendance of a meeting',
    description:
      'Requires the creator token; available until `meeting.attendanceDays` after the end. If the room id was ' +
      'reused, returns the meeting the token was created for. Streamed: finished visits by time of leaving, then ' +
      'current ones.',
    security: 'creator',
    answers: {
      200: { description: 'The attendance report', schema: attendanceReport },
      401: { description: 'The creator token is missing, or belongs to no meeting of this room' },
      404: { description: 'The room does not exist, or its data has been erased' },
    },
    async handle({ params, bearer, address, method, signal }) {
      const roomId = roomIdOf(params.roomId);
      if (!roomId) return roomNotFound;
      const network = networkOf(address);
      const reservation = budget.reserve(network);
      const shortage = reservation.acquire(1);
      if (shortage) return overBudgetProblem(shortage);
      let isSent = false;
      try {
        const report = await attendance(roomId, bearer, network);
        if (isRejection(report)) return report;
        const { visits, position, ...meeting } = report;
        // After a disconnect or a timeout the body is never streamed, so the abort releases the reservation.
        signal.addEventListener('abort', reservation.release, { once: true });
        isSent = method !== 'HEAD' && !signal.aborted;
        const content = () => withCleanup(serializeReport(meeting, visits()), reservation.release);
        return { ...streamedJson(content, NO_STORE), position };
      } finally {
        if (!isSent) reservation.release();
      }
    },
  });

async function* withCleanup<Each>(all: AsyncIterable<Each>, cleanup: () => void): AsyncGenerator<Each> {
  try {
    yield* all;
  } finally {
    cleanup();
  }
}

async function* serializeReport(meeting: object, visits: AsyncIterable<readonly object[]>): AsyncGenerator<string> {
  yield* streamList(`${JSON.stringify(meeting).slice(0, -1)},"participants":`, visits);
  yield '}';
}
