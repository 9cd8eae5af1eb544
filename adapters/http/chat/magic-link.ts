/** Requests for emailed links, and signing in by one; the answers never reveal whether an address is known. */
import type { Links } from '../../../application/chat/sign-in/one-time-links.js';
import type { SignIn } from '../../../application/chat/sign-in/open-session.js';
import type { Purpose } from '../../../domain/chat/one-time-links.js';
import { isRejection } from '../../../domain/shared/index.js';
import { quantizeDuration, type StepTime } from '../hardening/constant-time.js';
import type { Answer } from '../server/answer.js';
import type { RateLimit } from '../server/client-network.js';
import { type Request, type Route, route } from '../server/route.js';
import { anonymousContext } from './auth.js';
import * as schemas from './schemas.js';
import { fromOf } from './session-routes.js';

/** Links per network in 15 minutes: any address can be entered, and each gets a stream, and perhaps an email. */
export const LINKS_PER_NETWORK = 300;

export const LINK_SENT = {
  success: true,
  message: 'If this email belongs to a user, an email has been sent',
};

type LinkRequest = Pick<Request<{ readonly email: string }>, 'address' | 'body' | 'bearer' | 'context' | 'logger'>;

/** Requests beyond the limit get the same response in the same time, but send nothing. */
export function createLinkHandler(
  { request }: Pick<Links, 'request'>,
  purpose: Purpose,
  perNetwork: Pick<RateLimit, 'spend'>,
  time?: StepTime,
) {
  async function sendLink(linkRequest: LinkRequest): Promise<Answer> {
    if ((await perNetwork.spend(linkRequest.address)) !== undefined) {
      linkRequest.logger.warn({ purpose }, 'too many links were requested from one network; no email sent');
      return { status: 200, body: LINK_SENT };
    }
    const result = await request(purpose, linkRequest.body.email, anonymousContext(linkRequest));
    return isRejection(result) ? result : { status: 200, body: LINK_SENT };
  }

  return (linkRequest: LinkRequest): Promise<Answer> => quantizeDuration(() => sendLink(linkRequest), time);
}

export function magicLinkRoutes(links: Links, signIn: SignIn, linksPerNetwork: RateLimit): readonly Route[] {
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
    handle(request) {
      const { token = request.bearer, email } = request.body;
      return signIn.signInWithLink(token, email, fromOf(request), anonymousContext(request));
    },
  });

  return [login, verify];
}
