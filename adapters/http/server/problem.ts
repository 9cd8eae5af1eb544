/** Error responses as values; the policy of the service formats their body. */
import type { Rejection, RejectionKind } from '../../../domain/shared/index.js';

export interface Problem {
  readonly problem: number;
  /** Sentence for people. Never an internal message, a stack, a stream name or a query. */
  readonly error: string;
  /** Stable code for programs, if the service has codes. */
  readonly code?: string;
  readonly retryAfterMs?: number | undefined;
  readonly headers?: { readonly [name: string]: string } | undefined;
  readonly extra?: object;
}

export const problem = (status: number, error: string, more: Omit<Problem, 'problem' | 'error'> = {}): Problem => ({
  problem: status,
  error,
  ...more,
});

export const isProblem = (answer: unknown): answer is Problem =>
  typeof answer === 'object' && answer !== null && 'problem' in answer;

export const TOO_SLOW = 'The request took too long to arrive';

const RESPONSES: { readonly [kind in RejectionKind]: readonly [status: number, sentence: string] } = {
  invalid: [400, 'The request is invalid'],
  'too-large': [413, 'The request is too large'],
  unauthenticated: [401, 'Unauthorized'],
  forbidden: [403, 'Forbidden'],
  'not-found': [404, 'Not found'],
  conflict: [409, 'Conflict'],
  gone: [410, 'Gone'],
  'misused-key': [422, 'The Idempotency-Key was used before with another request'],
  limit: [429, 'Too many requests'],
  unavailable: [503, 'Temporarily unavailable, try again'],
};

export function fromRejection({ kind, detail, retryAfterMs }: Rejection): Problem {
  const [status, sentence] = RESPONSES[kind];
  return problem(status, detail ?? sentence, {
    retryAfterMs: kind === 'limit' ? (retryAfterMs ?? 1000) : retryAfterMs,
    headers: kind === 'unauthenticated' ? { 'WWW-Authenticate': 'Bearer' } : undefined,
  });
}
