/** Signing in with an email and nothing else: in dev mode only. */
import type { SignIn } from '../../../application/chat/sign-in/open-session.js';
import { isRejection } from '../../../domain/shared/index.js';
import type { Guard } from '../server/policy.js';
import { type Route, route } from '../server/route.js';
import { anonymousContext } from './auth.js';
import * as schemas from './schemas.js';
import { fromOf } from './session-routes.js';

/** Nothing is asked for that a page could not know: `guard` keeps those of other sites from it. */
export const devLoginRoute = (signIn: SignIn, guard: Guard): Route =>
  route({
    method: 'POST',
    path: '/auth/dev-login',
    summary: 'Sign in with an email alone',
    description:
      'In dev mode only. Whoever is not known is made a user, unless invites are required. Pages may do it that are of ' +
      'this machine, of `auth.appUrl`, or of an origin that `server.allowedOrigins` names.',
    body: schemas.emailBody,
    answers: {
      200: { description: 'Signed in', schema: schemas.devSignedIn },
      401: { description: 'There is no such user, and an invite is required' },
      403: { description: 'A page of another site asks, or it is asked under a name of another machine' },
    },
    admit: ({ method, headers }) => guard({ method, headers, localAddress: undefined }),
    async handle(request) {
      const done = await signIn.enter(request.body.email, fromOf(request), anonymousContext(request));
      if (isRejection(done)) return done;
      const { user, accessToken, ...rest } = done.body;
      const { id, userName, isAdmin } = user;
      const body = { user: { id, userName, isAdmin }, token: accessToken, ...rest };
      return { status: 200, body, position: done.position };
    },
  });
