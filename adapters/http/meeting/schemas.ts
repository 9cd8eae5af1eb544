/** JSON Schemas of HTTP requests and responses of the meeting service. */
import { object } from '../../../domain/shared/index.js';

const text = { type: 'string' } as const;
const count = { type: 'integer', minimum: 0 } as const;

/** Largest value of a JavaScript `Date`. */
const LAST_MS = 8_640_000_000_000_000;

const dateSchema = (title: string) =>
  ({
    title,
    description: 'Unix milliseconds, or an ISO 8601 date (UTC if it has no time zone)',
    anyOf: [
      { type: 'integer', minimum: 0, maximum: LAST_MS },
      { type: 'string', maxLength: 64, pattern: '^\\d{4}-' },
    ],
  }) as const;

/** Text with a length limit that applies after trimming; 1000 bounds the raw input. */
const trimmed = (description: string) => ({ type: 'string', maxLength: 1000, description }) as const;

export const roomBody = object(
  {},
  {
    roomId: trimmed('6 characters of A-Z and 0-9, case-insensitive; generated if omitted'),
    password: trimmed('1 to 50 characters'),
    maxParticipants: { type: 'integer', minimum: 2, maximum: 50 },
    title: trimmed('Up to 80 characters; a blank title is ignored'),
    scheduledStart: dateSchema('Scheduled start'),
    scheduledEnd: dateSchema('Scheduled end'),
  },
);

const time = { type: 'integer' } as const;

export const createdRoom = object(
  { roomId: text, creatorToken: text },
  { title: text, scheduledStart: time, scheduledEnd: time },
);

export const health = object({
  status: { const: 'ok' },
  totalRooms: count,
  totalParticipants: count,
  peakParticipants: count,
  uptime: count,
  version: text,
});

export const config = object({
  iceServers: { type: 'array', items: object({ urls: text }, { username: text, credential: text }) },
});

export const attendanceReport = object(
  {
    roomId: text,
    openedAt: time,
    participants: {
      type: 'array',
      items: object({ participantId: text, name: text, joinedAt: time }, { leftAt: time }),
    },
  },
  { title: text },
);

export const index = object({ service: text, version: text, links: { type: 'object' } });
