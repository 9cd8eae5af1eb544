/** Signing in with a link that is sent by mail: in magic-link mode only. */
import type { Links } from '../../../application/chat/sign-in/one-time-links.js';
import type { SignIn } from '../../../application/chat/sign-in/open-session.js';
import { isRejection } from '../../../domain/shared/index.js';
import type { RateLimit } from '../server/rate-limit.js';
import { type Route, route } from '../server/route.js';
import { anonymousContext } from './auth.js';
import { askForLink } from './request-link.js';
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
    summary: 'Ask for a link to sign in',
    description: 'The answer is the same whether or not anybody has this email. Five mails an address in 15 minutes.',
    body: schemas.emailBody,
    answers: { 200: { description: 'Taken note of', schema: schemas.told } },
    handle: askForLink(links, 'magic-link', linksPerNetwork),
  });

  const verify = route({
    method: 'POST',
    path: '/auth/verify',
    summary: 'Sign in by a link',
    description: 'The token of the link as a bearer, or in the body. It works once.',
    security: 'link',
    body: schemas.verifyBody,
    answers: {
      200: { description: 'Signed in', schema: schemas.signedIn },
      401: { description: 'The token is none, was used, or has expired' },
    },
    async handle(request) {
      const { token = request.bearer, email } = request.body;
      const done = await signIn.byLink(token, email, fromOf(request), anonymousContext(request));
      return isRejection(done) ? done : { status: 200, ...done };
    },
  });

  return [login, verify];
}
