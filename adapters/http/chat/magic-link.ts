/** Routes of signing in by an emailed link, in magic-link mode only. */
import type { Links } from '../../../application/chat/sign-in/one-time-links.js';
import type { SignIn } from '../../../application/chat/sign-in/open-session.js';
import { isRejection } from '../../../domain/shared/index.js';
import type { RateLimit } from '../server/rate-limit.js';
import { type Route, route } from '../server/route.js';
import { anonymousContext } from './auth.js';
import { createLinkHandler } from './request-link.js';
import * as schemas from './schemas.js';
import { fromOf } from './session-routes.js';

export interface MagicLinkDeps {
  readonly links: Links;
  readonly signIn: SignIn;
  readonly linksPerNetwork: RateLimit;
}

export function magicLinkRoutes({ links, signIn, linksPerNetwork }: MagicLinkDeps): readonly Route[] {
  const login = route({
    method: 'POST',
    path: '/auth/login',
    summary: 'Request a sign-in link',
    description: 'The response is the same for unknown emails. At most five emails per address in 15 minutes.',
    body: schemas.emailBody,
    answers: { 200: { description: 'Request accepted', schema: schemas.successMessage } },
    handle: createLinkHandler(links, 'magic-link', linksPerNetwork),
  });

  const verify = route({
    method: 'POST',
    path: '/auth/verify',
    summary: 'Sign in by the token of a link',
    description: 'The token of the link as a bearer, or in the body. It works once.',
    security: 'link',
    body: schemas.verifyBody,
    answers: {
      200: { description: 'Signed in', schema: schemas.signedIn },
      401: { description: 'The token is invalid, used or expired' },
    },
    async handle(request) {
      const { token = request.bearer, email } = request.body;
      const result = await signIn.signInWithLink(token, email, fromOf(request), anonymousContext(request));
      return isRejection(result) ? result : { status: 200, ...result };
    },
  });

  return [login, verify];
}
