/** Handles requests for links by email; the response never reveals whether the address is known. */
import type { Links } from '../../../application/chat/sign-in/one-time-links.js';
import type { Purpose } from '../../../domain/chat/one-time-links.js';
import { isRejection } from '../../../domain/shared/index.js';
import { quantizeDuration, type StepTime } from '../hardening/constant-time-response.js';
import type { Answer } from '../server/answer.js';
import type { RateLimit } from '../server/rate-limit.js';
import type { Request } from '../server/route.js';
import { anonymousContext } from './auth.js';

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
