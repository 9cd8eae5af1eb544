/** The routes by which people sign in to the dashboard, and out. */
import type { Logins } from '../../../application/analytics/login.js';
import { SESSION_MS } from '../../../domain/analytics/login.js';
import { isRejection } from '../../../domain/shared/index.js';
import { quantizeDuration, type StepTime } from '../hardening/constant-time-response.js';
import { cookieOf, isSameOrigin, setCookie } from '../server/cookies.js';
import { problem } from '../server/problem.js';
import type { RateLimit } from '../server/rate-limit.js';
import { type Admit, type Route, route } from '../server/route.js';
import { type Admin, CROSS_ORIGIN_ANSWER, SECURITY, SESSION_COOKIE } from './admission.js';
import * as schemas from './schemas.js';

export interface AuthRouteDeps {
  readonly logins: Logins;
  readonly admit: Admit<Admin>;
  readonly linksPerNetwork: RateLimit;
  /** Under which people reach the service, if that is configured. */
  readonly appUrl: string | undefined;
  readonly time?: StepTime;
}

export const AUTH = {
  me: '/api/auth/me',
  magicLink: '/api/auth/magic-link',
  verify: '/api/auth/verify',
  logout: '/api/auth/logout',
} as const;

const ASKED = { message: 'If this address may sign in, a mail with a link is on its way' };
const ROLE = 'member';
const LIFE = SESSION_MS / 1000;
const FORGED = problem(403, 'What changes something must come from a page of this service');

export function authRoutes({ logins, admit, linksPerNetwork, appUrl, time }: AuthRouteDeps): readonly Route[] {
  const tags = ['Signing in'];
  const secure = appUrl?.startsWith('https:') ?? false;
  const cookie = (token: string, maxAgeSeconds: number) => ({
    'Set-Cookie': setCookie(SESSION_COOKIE, token, { maxAgeSeconds, secure }),
  });

  const me = route({
    method: 'GET',
    path: AUTH.me,
    tags,
    summary: 'Who is signed in',
    description: 'A session of which half is over begins its time anew with this, and the cookie comes again.',
    security: SECURITY,
    answers: { 200: { description: 'The caller', schema: schemas.meAnswer } },
    admit,
    async handle({ context, headers }, { session, actor }) {
      const user = session ? { email: session.email, role: ROLE } : { email: null, role: 'admin' };
      const token = cookieOf(headers, SESSION_COOKIE);
      const isNew = session !== undefined && (await logins.renew(session, context(actor, actor)));
      return {
        status: 200,
        body: { authEnabled: true, authenticated: true, user },
        ...(isNew && token !== undefined && { headers: cookie(token, LIFE) }),
      };
    },
  });

  const magicLink = route({
    method: 'POST',
    path: AUTH.magicLink,
    tags,
    summary: 'Ask for a link to sign in',
    description:
      'The answer is the same, and comes in the same time, for every address. A mail goes to those of ' +
      '`analytics.allowedEmails` and `analytics.allowedDomains`: five in 15 minutes. A link lasts 15 minutes, and ends ' +
      'with the next.',
    body: schemas.magicLinkBody,
    answers: { 202: { description: 'Taken note of', schema: schemas.magicLinkAnswer } },
    handle: ({ body: { email }, address, context, logger }) =>
      quantizeDuration(async () => {
        if ((await linksPerNetwork.spend(address)) === undefined) {
          const done = await logins.request(email, context('analytics.guest', address));
          if (isRejection(done)) return done;
          // The address is personal data: it is not logged.
          if (done.isLimited) logger.warn({}, 'a sign-in link is not mailed: too many were requested for its address');
        } else logger.warn({}, 'one network asks for too many links, this one is not sent');
        return { status: 202, body: ASKED };
      }, time),
  });

  const verify = route({
    method: 'POST',
    path: AUTH.verify,
    tags,
    summary: 'Sign in by a link, which works once',
    body: schemas.verifyBody,
    answers: {
      200: { description: 'Signed in; the cookie is the session', schema: schemas.verifyAnswer },
      401: { description: 'The token is none, was used, or has expired' },
    },
    async handle({ body: { token, email }, address, context }) {
      const done = await logins.verify(token, email, context('analytics.guest', `${address} ${token}`));
      if (isRejection(done)) return done;
      return {
        status: 200,
        body: { authenticated: true, user: { email: done.email, role: ROLE }, expiresIn: LIFE },
        headers: cookie(done.token, LIFE),
        position: done.position,
      };
    },
  });

  const logout = route({
    method: 'POST',
    path: AUTH.logout,
    tags,
    summary: 'Sign out: the session ends, on every node',
    description: 'Also for who is not signed in. Streams that are open end with the session.',
    body: { type: 'object', properties: {} },
    answers: {
      204: { description: 'Signed out' },
      403: CROSS_ORIGIN_ANSWER,
    },
    async handle({ headers, context }) {
      const visitor = await logins.find(cookieOf(headers, SESSION_COOKIE));
      if (!visitor) return { status: 204, headers: cookie('', 0) };
      if (!isSameOrigin(headers, appUrl)) return FORGED;
      const actor = `dashboard:${visitor.addressId}`;
      const position = await logins.end(visitor, context(actor, actor));
      return isRejection(position) ? position : { status: 204, headers: cookie('', 0), position };
    },
  });

  return [me, magicLink, verify, logout];
}
