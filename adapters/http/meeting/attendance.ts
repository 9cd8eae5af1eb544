/** The route of who was in a meeting. */
import { type Budget, createBudget } from '../../../application/concurrency/index.js';
import { streamList } from '../../../application/json/stream-list.js';
import { type Attendance, MAX_ATTENDANCES } from '../../../application/meeting/attendance.js';
import { roomNotFound } from '../../../domain/meeting/join.js';
import { roomIdOf } from '../../../domain/meeting/room-id.js';
import { isRejection } from '../../../domain/shared/index.js';
import { networkOf } from '../../platform/config/client-address.js';
import { encoded, inPieces } from '../server/answer.js';
import { overBudget } from '../server/budgets.js';
import { type Route, route } from '../server/route.js';
import { attendanceReport } from './schemas.js';

const NO_STORE = { 'Cache-Control': 'no-store' };

/** Of those that are being read. */
export const createAttendanceBudget = (): Budget => createBudget('meeting.attendance', MAX_ATTENDANCES);

export const attendanceRoute = (attendance: Attendance, budget: Budget): Route =>
  route({
    method: 'GET',
    path: '/api/rooms/:roomId/attendance',
    summary: 'Who was in a meeting, from when to when',
    description:
      'For whoever made the room, until `meeting.attendanceDays` after its end. Where an id was used again, of the ' +
      'meeting that the token was made for. Streamed: who has left, in the order of leaving, then who is there.',
    security: 'creator',
    answers: {
      200: { description: 'The meeting and its people', schema: attendanceReport },
      401: { description: 'The token is missing, or is not of a meeting in this room' },
      404: { description: 'There is no such room, or nothing is kept of it any more' },
    },
    async handle({ params, bearer, address, method, signal }) {
      const roomId = roomIdOf(params.roomId);
      if (!roomId) return roomNotFound;
      const network = networkOf(address);
      const reservation = budget.reserve(network);
      const shortage = reservation.acquire(1);
      if (shortage) return overBudget(shortage);
      let isSent = false;
      try {
        const report = await attendance(roomId, bearer, network);
        if (isRejection(report)) return report;
        const { visits, position, ...meeting } = report;
        // Of who has gone, or was told that it takes too long, it is never begun.
        signal.addEventListener('abort', reservation.release, { once: true });
        isSent = method !== 'HEAD' && !signal.aborted;
        const content = () => encoded(withCleanup(serializeReport(meeting, visits()), reservation.release));
        return { ...inPieces(content, NO_STORE), position };
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

/** One object, its people as they are read. */
async function* serializeReport(meeting: object, visits: AsyncIterable<readonly object[]>): AsyncGenerator<string> {
  yield* streamList(`${JSON.stringify(meeting).slice(0, -1)},"participants":`, visits);
  yield '}';
}
