/** Asking for a link by mail: the answer is the same whatever comes of it. */
import type { Links } from '../../../application/chat/sign-in/one-time-links.js';
import type { Purpose } from '../../../domain/chat/one-time-links.js';
import { isRejection } from '../../../domain/shared/index.js';
import { quantizeDuration, type StepTime } from '../hardening/constant-time-response.js';
import type { Answer } from '../server/answer.js';
import type { RateLimit } from '../server/rate-limit.js';
import type { Request } from '../server/route.js';
import { anonymousContext } from './auth.js';

/** What one network may ask for in 15 minutes: any address can be named, and each that is gets a stream, and maybe a mail. */
export const LINKS_PER_NETWORK = 300;

export const SENT = {
  success: true,
  message: 'If there is somebody of this email, a mail is on its way',
};

type Asked = Pick<Request<{ readonly email: string }>, 'address' | 'body' | 'bearer' | 'context' | 'logger'>;

/** Beyond the limit nothing is done, and nobody who asks is told: what is promised is one answer for all, in one time. */
export function askForLink(
  { request }: Pick<Links, 'request'>,
  purpose: Purpose,
  perNetwork: Pick<RateLimit, 'spend'>,
  time?: StepTime,
) {
  async function ask(asked: Asked): Promise<Answer> {
    if ((await perNetwork.spend(asked.address)) !== undefined) {
      asked.logger.warn({ purpose }, 'one network asks for too many links, this one is not sent');
      return { status: 200, body: SENT };
    }
    const done = await request(purpose, asked.body.email, anonymousContext(asked));
    return isRejection(done) ? done : { status: 200, body: SENT };
  }

  return (asked: Asked): Promise<Answer> => quantizeDuration(() => ask(asked), time);
}
