/** What all answers of the meeting service have in common: seven headers, and how errors are told. */
import type { Rejection } from '../../../domain/shared/index.js';
import type { ServicePolicy } from '../server/policy.js';
import { fromRejection, type Problem, problem } from '../server/problem.js';

/** A room that was made before stays for hours at least: to ask sooner is in vain. */
const HOUR_MS = 3_600_000;

/** Where the contract has another status, or another sentence, than the kind of the rejection says. */
const PROBLEMS: { readonly [toProblem: string]: (rejection: Rejection) => Problem } = {
  'meeting/room-exists': () => problem(429, 'A room with this id exists already', { retryAfterMs: HOUR_MS }),
  'meeting/house-full': ({ retryAfterMs = 1000 }) =>
    problem(429, 'The room limit is reached: too many rooms stand empty', { retryAfterMs }),
  'meeting/too-many-rooms': ({ retryAfterMs = 1000 }) =>
    problem(429, 'Too many requests, try again later', { retryAfterMs }),
};

const CHALLENGE = { headers: { 'WWW-Authenticate': 'Bearer' } };

const toProblem = (rejection: Rejection): Problem => {
  const response = PROBLEMS[rejection.rejected]?.(rejection) ?? fromRejection(rejection);
  return rejection.kind === 'unauthenticated' ? { ...response, ...CHALLENGE } : response;
};

/** Whatever page asks, and whatever it asks: the contract has the same three headers on every answer. */
const CORS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET, POST, OPTIONS',
  'Access-Control-Allow-Headers': 'Content-Type',
};

export const meetingPolicy = (version: string): ServicePolicy => ({
  service: 'meeting',
  title: 'Video meetings',
  description:
    'Signaling for video meetings: rooms are made over HTTP or by whoever enters first, people meet in them over the ' +
    'WebSocket at `/ws`. Times are Unix milliseconds.',
  version,
  cors: () => CORS,
  headers: {
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    'X-XSS-Protection': '1; mode=block',
    'Referrer-Policy': 'strict-origin-when-cross-origin',
  },
  rejected: toProblem,
  securitySchemes: {
    creator: { type: 'http', scheme: 'bearer', description: 'The creator token of the room' },
  },
});
