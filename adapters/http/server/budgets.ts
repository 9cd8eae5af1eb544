/** Resource budgets that all clients of a process share by network, and the response when one is used up. */
import { createBudget, type Shortage } from '../../../application/concurrency/index.js';
import { type Problem, problem } from './policy.js';

export type Budgets = ReturnType<typeof createBudgets>;

/** About what a node processes in a second; further requests would wait longer and are rejected. */
const REQUESTS = 4000;
/** More than a hundred bodies of the usual limit of 64 KiB. */
const BODY_BYTES = 32 * 1024 * 1024;
const UNREAD_BYTES = 256 * 1024 * 1024;

/** Share of the connections that may be streams; the rest remains for requests. */
const STREAM_SHARE = 0.75;

/** The share of one network (often one household), two thirds of a budget, suffices for fifty people with four streams each. */
export const createBudgets = (connections = Number.POSITIVE_INFINITY) => ({
  /** Requests in progress, until their work ends, also after a timeout or disconnect. */
  requests: createBudget('requests', REQUESTS),
  /** Bytes in memory of bodies and WebSocket messages, except for routes with a separate budget. */
  bodies: createBudget('bodies', BODY_BYTES),
  streams: createBudget('streams', Math.ceil(connections * STREAM_SHARE)),
  unread: createBudget('unread', UNREAD_BYTES),
});

/** Memory of a body while it is processed, as a multiple of its bytes: bytes, text and parsed data. */
export const BODY_COST = 4;

export const overBudgetProblem = (shortage: Shortage, retryAfterMs = 1000): Problem =>
  shortage === 'share'
    ? problem(429, 'Too many requests in progress from your network, try again in a moment', { retryAfterMs })
    : problem(503, 'Too many requests in progress, try again in a moment', { retryAfterMs });
