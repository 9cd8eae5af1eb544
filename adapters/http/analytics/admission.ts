/** Authenticates API requests by admin token or dashboard session cookie (RFC 6265). */
import type { DashboardSession, Logins } from '../../../application/analytics/login.js';
import { equalsSecret } from '../hardening/constant-time.js';
import { isSameOrigin } from '../hardening/cross-site-guard.js';
import { type Problem, problem } from '../server/policy.js';
import type { Request } from '../server/route.js';

export interface Admin {
  readonly actor: string;
  readonly session?: DashboardSession;
}

export const SESSION_COOKIE = 'annals_analytics_session';

/** Alternative security schemes. */
export const SECURITY = ['admin', 'session'] as const;

export const CHALLENGE = { 'WWW-Authenticate': 'Bearer realm="analytics"' };

/** The extra members are part of the contract of `/api/auth/me`. */
const UNAUTHORIZED = problem(401, 'Sign in first', {
  headers: CHALLENGE,
  extra: { authEnabled: true, authenticated: false },
});
export const FORGED = problem(403, 'Requests that change data must come from a page of this service');
export const CROSS_ORIGIN_ANSWER = { description: 'The request came from a page of another origin' };
const ADMIN: Admin = { actor: 'admin' };
const SAFE_METHODS = ['GET', 'HEAD'];

/** The session token of the first cookie with its name. */
export function sessionTokenOf({ cookie = '' }: Request['headers']): string | undefined {
  for (const pair of cookie.split(';')) {
    const [key = '', ...value] = pair.split('=');
    if (key.trim() === SESSION_COOKIE) return value.join('=').trim();
  }
  return undefined;
}

/** Formats a cookie that scripts can't read and cross-site commands don't send; `secure` means only over TLS. */
export const sessionCookie = (token: string, maxAgeSeconds: number, secure: boolean): string =>
  `${SESSION_COOKIE}=${token}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}${secure ? '; Secure' : ''}`;

type AdminRequest = Pick<Request, 'bearer' | 'headers' | 'method'>;

export function createAdminAuthenticator(adminToken: string, logins: Pick<Logins, 'find'>, appUrl: string | undefined) {
  const isAdminToken = equalsSecret(adminToken);
  return async ({ bearer, headers, method }: AdminRequest): Promise<Admin | Problem> => {
    if (bearer !== undefined) return isAdminToken(bearer) ? ADMIN : UNAUTHORIZED;
    const session = await logins.find(sessionTokenOf(headers));
    if (!session) return UNAUTHORIZED;
    if (!SAFE_METHODS.includes(method) && !isSameOrigin(headers, appUrl)) return FORGED;
    return { actor: `dashboard:${session.addressId}`, session };
  };
}
