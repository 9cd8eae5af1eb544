/** Who may see and change what is counted: whoever has the admin token. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { type Problem, problem } from '../kernel/problem.js';
import type { Request } from '../kernel/route.js';

/** Somebody who is let in. */
export interface Admin {
  /** Goes into the log. */
  readonly actor: string;
}

/** As `/api/auth/me` promises it; elsewhere it does no harm. */
const UNAUTHORIZED = problem(401, 'Sign in first', {
  headers: { 'WWW-Authenticate': 'Bearer realm="analytics"' },
  extra: { authEnabled: true, authenticated: false },
});
const ADMIN: Admin = { actor: 'admin' };

const digest = (text: string) => createHash('sha256').update(text).digest();

/** Compares in constant time, whatever comes. */
export function createAnalyticsAdmission(adminToken: string) {
  const wanted = digest(adminToken);
  return ({ bearer }: Pick<Request, 'bearer'>): Admin | Problem =>
    bearer !== undefined && timingSafeEqual(digest(bearer), wanted) ? ADMIN : UNAUTHORIZED;
}

export type AnalyticsAdmission = ReturnType<typeof createAnalyticsAdmission>;
