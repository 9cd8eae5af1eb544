/** Route of signing in with only an email, in development mode. */
import type { SignIn } from '../../../application/chat/sign-in/open-session.js';
import { isRejection } from '../../../domain/shared/index.js';
import type { Guard } from '../server/policy.js';
import { type Route, route } from '../server/route.js';
import { anonymousContext } from './auth.js';
import * as schemas from './schemas.js';
import { fromOf } from './session-routes.js';

/** @param guard Rejects pages of other sites, as no secret is required. */
export const devLoginRoute = (signIn: SignIn, guard: Guard): Route =>
  route({
    method: 'POST',
    path: '/auth/dev-login',
    summary: 'Sign in with only an email',
    description:
      'In development mode only. Creates unknown users, unless invites are required. Allowed for pages of this ' +
      'machine, of `auth.appUrl`, and of origins listed in `server.allowedOrigins`.',
    body: schemas.emailBody,
    answers: {
      200: { description: 'Signed in', schema: schemas.devSignedIn },
      401: { description: 'There is no such user, and an invite is required' },
      403: { description: 'The request was sent by a page of another site, or to another host name' },
    },
    admit: ({ method, headers }) => guard({ method, headers, localAddress: undefined }),
    async handle(request) {
      const result = await signIn.signInWithEmail(request.body.email, fromOf(request), anonymousContext(request));
      if (isRejection(result)) return result;
      const { user, accessToken, ...rest } = result.body;
      const { id, userName, isAdmin } = user;
      const body = { user: { id, userName, isAdmin }, token: accessToken, ...rest };
      return { status: 200, body, position: result.position };
    },
  });
