/** Why a request gets no success, as a value; the policy of its service says what the answer's body looks like. */
import type { Rejection, RejectionKind } from '../../../domain/shared/index.js';

export interface Problem {
  /** The HTTP status. */
  readonly problem: number;
  /** A sentence a person can read. Never an internal message, a stack, a stream's name or a query. */
  readonly error: string;
  /** Stable, for programs, where the service has codes. */
  readonly code?: string;
  readonly retryAfterMs?: number;
  readonly headers?: { readonly [name: string]: string };
  /** Further members of the body. */
  readonly extra?: object;
}

export const problem = (status: number, error: string, more: Omit<Problem, 'problem' | 'error'> = {}): Problem => ({
  problem: status,
  error,
  ...more,
});

export const isProblem = (answer: unknown): answer is Problem =>
  typeof answer === 'object' && answer !== null && 'problem' in answer;

/** Of a request that was not here in its time. */
export const TOO_SLOW = 'The request took too long to arrive';

const TOLD: { readonly [kind in RejectionKind]: readonly [status: number, sentence: string] } = {
  invalid: [400, 'The request is invalid'],
  'too-large': [413, 'That is too much'],
  unauthenticated: [401, 'Unauthorized'],
  forbidden: [403, 'Forbidden'],
  'not-found': [404, 'Not found'],
  conflict: [409, 'Conflict'],
  gone: [410, 'Gone'],
  'misused-key': [422, 'The Idempotency-Key was used before with another request'],
  limit: [429, 'Too many requests'],
  unavailable: [503, 'Temporarily unavailable, try again'],
};

/** What a refused command is over HTTP: its kind gives the status. A policy can word it before it comes to this. */
export function fromRejection({ kind, detail, retryAfterMs }: Rejection): Problem {
  const [status, sentence] = TOLD[kind];
  const afterMs = kind === 'limit' ? (retryAfterMs ?? 1000) : retryAfterMs;
  return problem(status, detail ?? sentence, afterMs === undefined ? {} : { retryAfterMs: afterMs });
}
