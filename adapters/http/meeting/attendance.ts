/** The route of who was in a meeting. */
import { type Budget, createBudget } from '../../../application/concurrency/index.js';
import { streamList } from '../../../application/json/stream-list.js';
import { type Attendance, MOST_ATTENDANCES } from '../../../application/meeting/attendance.js';
import { roomNotFound } from '../../../domain/meeting/join.js';
import { roomIdOf } from '../../../domain/meeting/room-id.js';
import { isRejection } from '../../../domain/shared/index.js';
import { networkOf } from '../../platform/config/client-address.js';
import { encoded, inPieces } from '../server/answer.js';
import { overBudget } from '../server/budgets.js';
import { type Route, route } from '../server/route.js';
import { attended } from './schemas.js';

const FRESH = { 'Cache-Control': 'no-store' };

/** Of those that are being read. */
export const createAttendanceBudget = (): Budget => createBudget('meeting.attendance', MOST_ATTENDANCES);

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
      200: { description: 'The meeting and its people', schema: attended },
      401: { description: 'The token is missing, or is not of a meeting in this room' },
      404: { description: 'There is no such room, or nothing is kept of it any more' },
    },
    async handle({ params, bearer, address, method, signal }) {
      const roomId = roomIdOf(params.roomId);
      if (!roomId) return roomNotFound;
      const network = networkOf(address);
      const place = budget.reserve(network);
      const lack = place.acquire(1);
      if (lack) return overBudget(lack);
      let isSent = false;
      try {
        const found = await attendance(roomId, bearer, network);
        if (isRejection(found)) return found;
        const { visits, position, ...meeting } = found;
        // Of who has gone, or was told that it takes too long, it is never begun.
        signal.addEventListener('abort', place.release, { once: true });
        isSent = method !== 'HEAD' && !signal.aborted;
        const content = () => encoded(untilOver(inJson(meeting, visits()), place.release));
        return { ...inPieces(content, FRESH), position };
      } finally {
        if (!isSent) place.release();
      }
    },
  });

async function* untilOver<Each>(all: AsyncIterable<Each>, over: () => void): AsyncGenerator<Each> {
  try {
    yield* all;
  } finally {
    over();
  }
}

/** One object, its people as they are read. */
async function* inJson(meeting: object, visits: AsyncIterable<readonly object[]>): AsyncGenerator<string> {
  yield* streamList(`${JSON.stringify(meeting).slice(0, -1)},"participants":`, visits);
  yield '}';
}
