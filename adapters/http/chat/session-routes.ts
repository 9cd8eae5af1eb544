/** Routes of sessions: current user, refresh, logout, list and revoke. */
import type { Authentication } from '../../../application/chat/sign-in/authenticate.js';
import type { Sessions, SignInOrigin } from '../../../application/chat/sign-in/sessions.js';
import { networkOf } from '../server/client-network.js';
import { type Request, type Route, route } from '../server/route.js';
import { type AuthGuards, access, anonymousContext, contextFor } from './auth.js';
import * as schemas from './schemas.js';

export const fromOf = ({ address, headers }: Pick<Request, 'address' | 'headers'>): SignInOrigin => ({
  ip: address,
  network: networkOf(address),
  userAgent: headers['user-agent'] ?? '',
});

export function authRoutes(guards: AuthGuards, admission: Authentication, sessions: Sessions): readonly Route[] {
  const user = access(guards.user);
  return [
    route({
      method: 'POST',
      path: '/auth/refresh',
      summary: 'Refresh the tokens of a session',
      description:
        'Returns a new refresh token. The previous one returns the same for 30 more seconds, for tabs that refresh at the ' +
        'same time; using it later ends the session, as it may be stolen.',
      body: schemas.refreshBody,
      answers: { 200: { description: 'New tokens', schema: schemas.signedIn }, 401: SESSION_ENDED },
      handle: (request) => sessions.refresh(request.body.refreshToken, anonymousContext(request)),
    }),
    route({
      ...user,
      method: 'POST',
      path: '/auth/logout',
      summary: 'End a session',
      body: schemas.logoutBody,
      answers: { 200: { description: 'Ended', schema: schemas.successMessage } },
      async previousAnswer(request) {
        const user = await admission.parseAccessToken(request.bearer);
        return user && sessions.findLogoutResult(user.userId, contextFor(user, request));
      },
      handle: (request, caller) => sessions.logout(caller, request.body.refreshToken, contextFor(caller, request)),
    }),
    route({
      ...user,
      method: 'GET',
      path: '/auth/me',
      summary: 'The signed-in user',
      answers: { 200: { description: 'The caller', schema: schemas.me } },
      handle: (_, { userId: id, userName, isAdmin }) => ({
        body: { user: { id, userName, isAdmin } },
      }),
    }),
    route({
      ...user,
      method: 'GET',
      path: '/auth/sessions',
      summary: "The caller's active sessions, newest first",
      answers: { 200: { description: 'Sessions', schema: schemas.sessions } },
      handle: ({ ifPosition }, caller) => sessions.list(caller, ifPosition),
    }),
    route({
      ...user,
      method: 'DELETE',
      path: '/auth/sessions',
      summary: "End the caller's other sessions, or one of them",
      description:
        '`sessionId` selects the session to end, `refreshToken` the one to keep. Without both, all sessions but the ' +
        'current one end.',
      body: schemas.revokeBody,
      answers: { 200: { description: 'Ended', schema: schemas.revoked } },
      handle: (request, caller) => sessions.revoke(caller, request.body, contextFor(caller, request)),
    }),
  ];
}

const SESSION_ENDED = { description: 'The refresh token is invalid, or its session has ended' };
