/** Why a request gets no success, as a value; the policy of its service says what the answer's body looks like. */
import type { Rejection, RejectionKind } from '../../domain/shared/decider.js';

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

export const problem = (
  status: number,
  error: string,
  more: Omit<Problem, 'problem' | 'error'> = {},
): Problem => ({ problem: status, error, ...more });

export const isProblem = (answer: unknown): answer is Problem =>
  typeof answer === 'object' && answer !== null && 'problem' in answer;

/** Of a request that was not here in its time. */
export const TOO_SLOW = 'The request took too long to arrive';

const STATUS: { readonly [kind in RejectionKind]: number } = {
  invalid: 400,
  forbidden: 403,
  'not-found': 404,
  conflict: 409,
  gone: 410,
  limit: 429,
};

const SENTENCE: { readonly [kind in RejectionKind]: string } = {
  invalid: 'The request is invalid',
  forbidden: 'Forbidden',
  'not-found': 'Not found',
  conflict: 'Conflict',
  gone: 'Gone',
  limit: 'Too many requests',
};

/** What a refused command is over HTTP. A policy can map one by one before it comes to this. */
export function fromRejection({ rejected, kind, detail, retryAfterMs }: Rejection): Problem {
  const reused = rejected.endsWith('/idempotency-key-reused');
  const status = reused ? 422 : STATUS[kind];
  const retry = kind === 'limit' ? { retryAfterMs: retryAfterMs ?? 1000 } : {};
  return problem(status, detail ?? SENTENCE[kind], retry);
}
