/** Routes to sign in to the dashboard and out. */
import { type Logins, SESSION_MS } from '../../../application/analytics/login.js';
import { isRejection } from '../../../domain/shared/index.js';
import type { StepTime } from '../hardening/constant-time.js';
import { isSameOrigin } from '../hardening/cross-site-guard.js';
import type { RateLimit } from '../server/client-network.js';
import { answerLinkRequest } from '../server/link-request.js';
import { type Admit, type Route, route } from '../server/route.js';
import { type Admin, CROSS_ORIGIN_ANSWER, FORGED, SECURITY, sessionCookie, sessionTokenOf } from './admission.js';
import * as schemas from './schemas.js';

export interface AuthRouteDeps {
  readonly logins: Logins;
  readonly admit: Admit<Admin>;
  readonly linksPerNetwork: RateLimit;
  readonly appUrl: string | undefined;
  readonly time?: StepTime;
}

export const AUTH = {
  me: '/api/auth/me',
  magicLink: '/api/auth/magic-link',
  verify: '/api/auth/verify',
  logout: '/api/auth/logout',
} as const;

const LINK_REQUESTED = {
  status: 202,
  body: { message: 'If this address may sign in, a sign-in link has been mailed to it' },
};
const ROLE = 'member';
const SESSION_SECONDS = SESSION_MS / 1000;

export function authRoutes({ logins, admit, linksPerNetwork, appUrl, time }: AuthRouteDeps): readonly Route[] {
  const tags = ['Signing in'];
  const secure = appUrl?.startsWith('https:') ?? false;
  const cookie = (token: string, maxAgeSeconds: number) => ({
    'Set-Cookie': sessionCookie(token, maxAgeSeconds, secure),
  });

  const me = route({
    method: 'GET',
    path: AUTH.me,
    tags,
    summary: 'The signed-in user',
    description: 'Extends the session and renews its cookie after half of its lifetime.',
    security: SECURITY,
    answers: { 200: { description: 'The caller', schema: schemas.meAnswer } },
    admit,
    async handle({ context, headers }, { session, actor }) {
      const user = session ? { email: session.email, role: ROLE } : { email: null, role: 'admin' };
      const token = sessionTokenOf(headers);
      const isNew = session !== undefined && (await logins.renew(session, context(actor, actor)));
      return {
        status: 200,
        body: { authEnabled: true, authenticated: true, user },
        ...(isNew && token !== undefined && { headers: cookie(token, SESSION_SECONDS) }),
      };
    },
  });

  const magicLink = route({
    method: 'POST',
    path: AUTH.magicLink,
    tags,
    summary: 'Request a sign-in link',
    description:
      'The response and its duration are the same for every address. Mails are sent to addresses in ' +
      '`analytics.allowedEmails` and `analytics.allowedDomains`, at most five in 15 minutes. A link is valid for ' +
      '15 minutes, or until the next one is requested.',
    body: schemas.magicLinkBody,
    answers: { 202: { description: 'Accepted', schema: schemas.magicLinkAnswer } },
    handle: (request) =>
      answerLinkRequest(request, { perNetwork: linksPerNetwork, answer: LINK_REQUESTED, time }, () =>
        logins.request(request.body.email, request.context('analytics.guest', request.address)),
      ),
  });

  const verify = route({
    method: 'POST',
    path: AUTH.verify,
    tags,
    summary: 'Sign in by a link, which can be used once',
    body: schemas.verifyBody,
    answers: {
      200: { description: 'Signed in; the session is set as a cookie', schema: schemas.verifyAnswer },
      401: { description: 'The token is invalid, was used or has expired' },
    },
    async handle({ body: { token, email }, address, context }) {
      const result = await logins.verify(token, email, context('analytics.guest', `${address} ${token}`));
      if (isRejection(result)) return result;
      return {
        status: 200,
        body: { authenticated: true, user: { email: result.email, role: ROLE }, expiresIn: SESSION_SECONDS },
        headers: cookie(result.token, SESSION_SECONDS),
        position: result.position,
      };
    },
  });

  const logout = route({
    method: 'POST',
    path: AUTH.logout,
    tags,
    summary: 'Sign out: end the session on all nodes',
    description: 'Succeeds without a session too. Open live streams end with the session.',
    body: { type: 'object', properties: {} },
    answers: { 204: { description: 'Signed out' }, 403: CROSS_ORIGIN_ANSWER },
    async handle({ headers, context }) {
      const session = await logins.find(sessionTokenOf(headers));
      if (!session) return { status: 204, headers: cookie('', 0) };
      if (!isSameOrigin(headers, appUrl)) return FORGED;
      const actor = `dashboard:${session.addressId}`;
      const position = await logins.end(session, context(actor, actor));
      return isRejection(position) ? position : { status: 204, headers: cookie('', 0), position };
    },
  });

  return [me, magicLink, verify, logout];
}
