/** The routes of sessions: who one is, going on, signing out. */
import type { Authentication } from '../../../application/chat/sign-in/authenticate.js';
import type { From, Sessions } from '../../../application/chat/sign-in/sessions.js';
import { networkOf } from '../../platform/config/client-address.js';
import { type Request, type Route, route } from '../server/route.js';
import { type AuthGuards, anonymousContext, answer, contextFor } from './auth.js';
import * as schemas from './schemas.js';

export interface AuthDeps {
  readonly doors: AuthGuards;
  readonly admission: Authentication;
  readonly sessions: Sessions;
}

/** Where a sign-in comes from. */
export const fromOf = ({ address, headers }: Pick<Request, 'address' | 'headers'>): From => ({
  ip: address,
  network: networkOf(address),
  userAgent: headers['user-agent'] ?? '',
});

export function authRoutes({ doors, admission, sessions }: AuthDeps): readonly Route[] {
  const refresh = route({
    method: 'POST',
    path: '/auth/refresh',
    summary: 'Go on with a session',
    description:
      'Gives a new refresh token. The one before is taken for 30 seconds more, for two tabs that refresh at once, and ' +
      'gives the same; after that its use ends the session, since somebody else may have it.',
    body: schemas.refreshBody,
    answers: { 200: { description: 'New tokens', schema: schemas.signedIn }, 401: OVER },
    handle: async (request) => answer(await sessions.refresh(request.body.refreshToken, anonymousContext(request))),
  });

  const logout = route({
    method: 'POST',
    path: '/auth/logout',
    summary: 'End a session',
    security: 'access',
    body: schemas.logoutBody,
    answers: { 200: { description: 'Ended', schema: schemas.told } },
    admit: doors.user,
    async repeated(request) {
      const whose = await admission.parseAccessToken(request.bearer);
      const done = whose && (await sessions.wasLoggedOut(whose.userId, contextFor(whose, request)));
      return done && answer(done);
    },
    handle: async (request, caller) =>
      answer(await sessions.logout(caller, request.body.refreshToken, contextFor(caller, request))),
  });

  const me = route({
    method: 'GET',
    path: '/auth/me',
    summary: 'Who is signed in',
    security: 'access',
    answers: { 200: { description: 'The caller', schema: schemas.me } },
    admit: doors.user,
    handle: (_, { userId: id, userName, isAdmin }) => ({
      status: 200,
      body: { user: { id, userName, isAdmin } },
    }),
  });

  const list = route({
    method: 'GET',
    path: '/auth/sessions',
    summary: "The caller's sessions that live, newest first",
    security: 'access',
    answers: { 200: { description: 'Sessions', schema: schemas.sessions } },
    admit: doors.user,
    handle: async ({ ifPosition }, caller) => answer(await sessions.list(caller, ifPosition)),
  });

  const revoke = route({
    method: 'DELETE',
    path: '/auth/sessions',
    summary: "End the caller's other sessions, or one of them",
    description:
      '`sessionId` names the one to end; `refreshToken` the one to keep; without either all but the one that the ' +
      'request is made with end.',
    security: 'access',
    body: schemas.revokeBody,
    answers: { 200: { description: 'Ended', schema: schemas.revoked } },
    admit: doors.user,
    handle: async (request, caller) => answer(await sessions.revoke(caller, request.body, contextFor(caller, request))),
  });

  return [refresh, logout, me, list, revoke];
}

const OVER = { description: 'The refresh token is none, or its session has ended' };
