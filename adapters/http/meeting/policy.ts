/** HTTP policy of the meeting service: security headers, CORS and error responses. */
import type { Rejection } from '../../../domain/shared/index.js';
import { fromRejection, type Problem, problem, type ServicePolicy } from '../server/policy.js';

/** An existing room lasts for hours, so an earlier retry fails too. */
const HOUR_MS = 3_600_000;

/** Rejections with a status or message of the contract that differs from their kind's default. */
const PROBLEMS: { readonly [rejected: string]: (rejection: Rejection) => Problem } = {
  'meeting/room-exists': () => problem(429, 'A room with this id exists already', { retryAfterMs: HOUR_MS }),
  'meeting/house-full': ({ retryAfterMs = 1000 }) =>
    problem(429, 'The room limit is reached: there are too many empty rooms', { retryAfterMs }),
  'meeting/too-many-rooms': ({ retryAfterMs = 1000 }) =>
    problem(429, 'Too many requests, try again later', { retryAfterMs }),
};

const rejected = (rejection: Rejection): Problem =>
  PROBLEMS[rejection.rejected]?.(rejection) ?? fromRejection(rejection);

/** The contract sets the same three headers on every response, for every origin. */
const CORS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET, POST, OPTIONS',
  'Access-Control-Allow-Headers': 'Content-Type',
};

export const meetingPolicy = (version: string): ServicePolicy => ({
  service: 'meeting',
  title: 'Video meetings',
  description:
    'Signaling for video meetings. Rooms are created over HTTP or by the first participant (`isHost`); participants ' +
    'connect over the WebSocket at `/ws`. Times are Unix milliseconds.',
  version,
  cors: () => CORS,
  headers: {
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    'X-XSS-Protection': '1; mode=block',
    'Referrer-Policy': 'strict-origin-when-cross-origin',
  },
  rejected,
  securitySchemes: {
    creator: { type: 'http', scheme: 'bearer', description: 'The creator token of the room' },
  },
});
