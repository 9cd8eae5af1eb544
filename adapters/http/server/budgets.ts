/** What all callers of a process share, by their networks, and what is told whoever finds too little left. */
import { type Budget, createBudget, type Shortage } from '../../../application/concurrency/index.js';
import { type Problem, problem } from './problem.js';

/**
 * One network is often one house: fifty people with four streams each, who all post. So its share of each budget, two
 * thirds while nobody else wants much, is more than they need, also where a process may open no more than the usual
 * 1024 files: 384 streams and 128 connections beside them. Loopback, which may be a proxy that nobody said is to be
 * trusted, has a share like every network: it is all that people behind it have, and enough for hundreds of them.
 */
export interface Budgets {
  /** Requests under way, each with its command in line, until its work is over: also when nobody waits for it. */
  readonly requests: Budget;
  /** Bodies, in bytes as they are in memory, but of routes that have a budget of their own; and what WebSockets say. */
  readonly bodies: Budget;
  /** Event streams that are open. */
  readonly streams: Budget;
  /** Answers that wait to be read, in bytes. */
  readonly unread: Budget;
}

/** What a node does in about a second: who would wait for longer is told to come back. */
const REQUESTS = 4000;
/** Bodies of the largest usual kind, 64 KiB: a hundred and more. */
const BODY_BYTES = 32 * 1024 * 1024;
const UNREAD_BYTES = 256 * 1024 * 1024;

/** Of the connections: the others are for those who ask something. */
const STREAMS = 0.75;

/** `connections`: how many there may be. */
export const createBudgets = (connections = Number.POSITIVE_INFINITY): Budgets => ({
  requests: createBudget('requests', REQUESTS),
  bodies: createBudget('bodies', BODY_BYTES),
  streams: createBudget('streams', Math.ceil(connections * STREAMS)),
  unread: createBudget('unread', UNREAD_BYTES),
});

/** What a body costs while it is worked on, as a multiple of its bytes: itself, its text, and what becomes of that. */
export const BODY_COST = 4;

/** The answer to whoever finds too little left; `retryAfterMs` is when there may be some. */
export const overBudget = (shortage: Shortage, retryAfterMs = 1000): Problem =>
  shortage === 'share'
    ? problem(429, 'Too much of yours is under way, try again in a moment', { retryAfterMs })
    : problem(503, 'Too much is under way, try again in a moment', { retryAfterMs });
