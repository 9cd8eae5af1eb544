/** The route of who was in a meeting. */
import { jsonList } from '../../../application/json-list.js';
import type { Attendance } from '../../../application/meeting/attendance.js';
import { roomNotFound } from '../../../domain/meeting/entering.js';
import { roomIdOf } from '../../../domain/meeting/names.js';
import { isRejection } from '../../../domain/shared/decider.js';
import { encoded, inPieces } from '../kernel/answer.js';
import { type Route, route } from '../kernel/route.js';
import { attended } from './schemas.js';

const FRESH = { 'Cache-Control': 'no-store' };

export const attendanceRoute = (attendance: Attendance): Route =>
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
    async handle({ params, bearer }) {
      const roomId = roomIdOf(params.roomId);
      const found = roomId ? await attendance(roomId, bearer) : roomNotFound;
      if (isRejection(found)) return found;
      const { visits, position, ...meeting } = found;
      return { ...inPieces(() => encoded(inJson(meeting, visits())), FRESH), position };
    },
  });

/** One object, its people as they are read. */
async function* inJson(meeting: object, visits: AsyncIterable<readonly object[]>): AsyncGenerator<string> {
  yield* jsonList(`${JSON.stringify(meeting).slice(0, -1)},"participants":`, visits);
  yield '}';
}
