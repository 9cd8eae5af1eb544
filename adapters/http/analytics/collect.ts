/** The route that takes hits in, from anywhere. */
import type { Collect } from '../../../application/analytics/collect-hits.js';
import type { Item } from '../../../application/analytics/validate-hits.js';
import { parseCountry } from '../../../domain/analytics/country.js';
import { type Payload, payload } from '../../../domain/analytics/hit-payload.js';
import { isRejection } from '../../../domain/shared/index.js';
import { retryAfter } from '../server/answer.js';
import { type Request, type Route, route } from '../server/route.js';
import { bodyValidator } from '../server/validate.js';
import { messageWithPath } from '../server/validation-message.js';
import { TOKEN_HEADER } from './policy.js';
import * as schemas from './schemas.js';

const BODY_BYTES = 32 * 1024;

export interface CollectRouteDeps {
  readonly collect: Collect;
  readonly honorDoNotTrack: boolean;
  /** Lower case; undefined where countries are not counted. */
  readonly countryHeader: string | undefined;
  readonly isProxy: (address: string) => boolean;
}

export function collectRoute({ collect, honorDoNotTrack, countryHeader, isProxy }: CollectRouteDeps): Route {
  /** Only a proxy that is trusted knows it: anybody can write a header. */
  const countryIn = ({ headers, peer }: Pick<Request, 'headers' | 'peer'>) =>
    countryHeader !== undefined && isProxy(peer) ? parseCountry(headers[countryHeader]) : undefined;

  return route({
    method: 'POST',
    path: '/api/collect',
    tags: ['Collecting'],
    summary: 'Send a page view or an event, or up to 100 of them',
    description:
      'JSON under any content type, up to 32 KiB. 202 `{accepted: true}` means flushed; what is ignored is 202 as ' +
      'well, with the reason: `unknown_site`, `privacy_signal` (`DNT: 1` or `Sec-GPC: 1`), `host_not_allowed`, ' +
      '`ingest_token_required`, `bot`, the first of these that holds. Without a `kind` it is an event if `event` is ' +
      'given, else a page view. A list is taken item by item and answered `{results: [{accepted, reason?, error?}]}`, ' +
      'in its order: beside the reasons above `too_many_hits`, with `Retry-After`, beyond what ' +
      '`analytics.hitsPerMinute` allows, and `invalid_payload`, whose `error` names the field. Of a single payload ' +
      'these are 429 and 400. Hits of sites with an ingest token are not limited.',
    body: schemas.collectBody,
    strictBody: true,
    anyContentType: true,
    bodyLimit: BODY_BYTES,
    answers: {
      202: { description: 'Counted, or ignored for a reason', schema: schemas.collectAnswer },
      429: { description: 'More hits from this network than `analytics.hitsPerMinute` lets be counted' },
      410: { description: 'The Idempotency-Key was used before, and its hits are no longer kept' },
    },
    async handle(request) {
      const { headers, address, context, idempotencyKey, ifPosition } = request;
      const { body } = request;
      const isBatch = Array.isArray(body);
      // A single one is checked with the body.
      const items = isBatch ? body.map(itemOf) : [{ payload: body as Payload }];
      const judged = await collect(items, {
        isBatch,
        address,
        userAgent: headers['user-agent'] ?? '',
        privacySignal: honorDoNotTrack && (headers.dnt === '1' || headers['sec-gpc'] === '1'),
        origin: headers.origin,
        referer: headers.referer,
        token: headers[TOKEN_HEADER],
        country: countryIn(request),
        hasIdempotencyKey: idempotencyKey !== undefined,
        context: (caller) => context('analytics.collect', caller),
        seen: ifPosition,
      });
      if (isRejection(judged)) return judged;
      const { verdicts, position, retryAfterMs } = judged;
      return {
        status: 202,
        body: isBatch ? { results: verdicts } : verdicts[0],
        ...(position !== undefined && { position }),
        ...(retryAfterMs !== undefined && { headers: { 'Retry-After': retryAfter(retryAfterMs) } }),
      };
    },
  });
}

const check = bodyValidator(payload, true);

function itemOf(item: unknown, index: number): Item {
  const wrong = check(item);
  return wrong ? { error: messageWithPath(wrong, index) } : { payload: item as Payload };
}
