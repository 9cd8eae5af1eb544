/** Who may see and change what is counted: whoever has the admin token, or a session of the dashboard. */
import { hash, timingSafeEqual } from 'node:crypto';
import type { Logins, DashboardSession } from '../../../application/analytics/login.js';
import { cookieOf, isSameOrigin } from '../server/cookies.js';
import { type Problem, problem } from '../server/problem.js';
import type { Request } from '../server/route.js';

/** Somebody who is let in. */
export interface Admin {
  /** Goes into the log. */
  readonly actor: string;
  /** Who came with the cookie. */
  readonly session?: DashboardSession;
}

export const SESSION_COOKIE = 'annals_analytics_session';

/** Either will do. */
export const SECURITY = ['admin', 'session'] as const;

/** How to sign in, which every 401 tells. */
export const CHALLENGE = { 'WWW-Authenticate': 'Bearer realm="analytics"' };

/** As `/api/auth/me` promises it; elsewhere it does no harm. */
const UNAUTHORIZED = problem(401, 'Sign in first', {
  headers: CHALLENGE,
  extra: { authEnabled: true, authenticated: false },
});
const FORGED = problem(403, 'What changes something must come from a page of this service');
/** For the documents of all that changes something. */
export const CROSS_ORIGIN_ANSWER = { description: 'The cookie came from a page of another origin' };
const ADMIN: Admin = { actor: 'admin' };
const READING = ['GET', 'HEAD'];

const digest = (text: string) => hash('sha256', text, 'buffer');

export interface AdmissionDeps {
  readonly adminToken: string;
  readonly logins: Pick<Logins, 'find'>;
  readonly appUrl: string | undefined;
}

/** Compares in constant time, whatever comes. */
export function createAnalyticsAdmission({ adminToken, logins, appUrl }: AdmissionDeps) {
  const wanted = digest(adminToken);
  return async ({ bearer, headers, method }: Pick<Request, 'bearer' | 'headers' | 'method'>) => {
    if (bearer !== undefined) return timingSafeEqual(digest(bearer), wanted) ? ADMIN : UNAUTHORIZED;
    const session = await logins.find(cookieOf(headers, SESSION_COOKIE));
    if (!session) return UNAUTHORIZED;
    if (!READING.includes(method) && !isSameOrigin(headers, appUrl)) return FORGED;
    return { actor: `dashboard:${session.addressId}`, session } satisfies Admin;
  };
}

export type AnalyticsAdmission = (request: Pick<Request, 'bearer' | 'headers' | 'method'>) => Promise<Admin | Problem>;
