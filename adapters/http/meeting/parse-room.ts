/** Validates a room creation request beyond its JSON Schema. */
import type { RoomInput } from '../../../application/meeting/rooms.js';
import { PASSWORD_LENGTH, roomIdOf } from '../../../domain/meeting/room-id.js';
import type { DataOf } from '../../../domain/shared/index.js';
import { isProblem, type Problem, problem } from '../server/problem.js';
import type { roomBody } from './schemas.js';

const MAX_TITLE_LENGTH = 80;

const invalid = (error: string) => problem(400, error);

/** Counts code points, not UTF-16 units. */
const lengthOf = (text: string) => [...text].length;

const DATE = /^\d{4}-\d\d-\d\d$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?$/i;

/** Returns Unix ms of an ISO 8601 date, or undefined if it is invalid. */
function parseDate(text: string): number | undefined {
  const time = TIME.exec(text);
  if (!time && !DATE.test(text)) return undefined;
  const day = text.slice(0, 10);
  // `Date.parse` accepts 31 February and rolls over into March.
  const midnight = Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(midnight) || !new Date(midnight).toISOString().startsWith(day)) return undefined;
  const instant = time ? Date.parse(time[1] === undefined ? `${text}Z` : text) : midnight;
  return instant >= 0 ? instant : undefined;
}

type RoomBody = DataOf<typeof roomBody>;

function parseScheduledTime(value: number | string | undefined, label: string): number | undefined | Problem {
  if (typeof value !== 'string') return value;
  return parseDate(value.trim()) ?? invalid(`${label} is invalid`);
}

/** Returns the normalized input, or the problem with it. */
export function parseRoom(body: RoomBody): RoomInput | Problem {
  const roomId = body.roomId === undefined ? undefined : roomIdOf(body.roomId);
  if (body.roomId !== undefined && !roomId) return invalid('Room id must be 6 characters of A-Z and 0-9');
  const password = body.password?.trim();
  if (password === '') return invalid('Password must not be empty');
  if (password && lengthOf(password) > PASSWORD_LENGTH) return invalid('Password is too long');
  // HTML forms send an empty string for a missing title.
  const title = body.title?.trim() || undefined;
  if (title && lengthOf(title) > MAX_TITLE_LENGTH) return invalid('Title is too long');
  const scheduledStart = parseScheduledTime(body.scheduledStart, 'Scheduled start');
  if (isProblem(scheduledStart)) return scheduledStart;
  const scheduledEnd = parseScheduledTime(body.scheduledEnd, 'Scheduled end');
  if (isProblem(scheduledEnd)) return scheduledEnd;
  if (scheduledStart !== undefined && scheduledEnd !== undefined && scheduledEnd <= scheduledStart)
    return invalid('Scheduled end must be after the scheduled start');
  return { roomId, password, maxParticipants: body.maxParticipants, title, scheduledStart, scheduledEnd };
}
