/** Answers requests for mailed links: neither the answer nor its duration reveals whether an address is known. */
import { isRejection, type Rejection } from '../../../domain/shared/index.js';
import { quantizeDuration, type StepTime } from '../hardening/constant-time.js';
import type { Answer, Reply } from './answer.js';
import { createRateLimit, type RateLimit } from './client-network.js';
import type { Request } from './route.js';

/** Links per network in 15 minutes: any address can be entered, and each gets a stream, and perhaps an email. */
const LINKS_PER_NETWORK = 300;
const WINDOW_MS = 15 * 60_000;

export const createLinkLimit = (): RateLimit => createRateLimit(LINKS_PER_NETWORK, WINDOW_MS);

export interface LinkRequestOptions {
  readonly perNetwork: Pick<RateLimit, 'spend'>;
  /** Answer to every request, also to those beyond a limit, which send nothing. */
  readonly answer: Reply;
  readonly time?: StepTime | undefined;
}

/** @param request Requests the link. */
export const answerLinkRequest = (
  { address, logger }: Pick<Request, 'address' | 'logger'>,
  { perNetwork, answer, time }: LinkRequestOptions,
  request: () => Promise<{ readonly isLimited: boolean } | Rejection>,
): Promise<Answer> =>
  quantizeDuration(async () => {
    // The address is personal data: it is not logged.
    if ((await perNetwork.spend(address)) !== undefined)
      logger.warn({}, 'link not mailed: too many requests from this network');
    else {
      const result = await request();
      if (isRejection(result)) return result;
      if (result.isLimited) logger.warn({}, 'link not mailed: too many requests for this address');
    }
    return answer;
  }, time);
