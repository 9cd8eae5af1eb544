/** Route that collects hits from any origin. */
import type { Collect } from '../../../application/analytics/collect-hits.js';
import type { Item } from '../../../application/analytics/validate-hits.js';
import { type Payload, parseCountry, payload } from '../../../domain/analytics/hit.js';
import { isRejection } from '../../../domain/shared/index.js';
import { retryAfter } from '../server/answer.js';
import { type Request, type Route, route } from '../server/route.js';
import { bodyValidator, messageWithPath } from '../server/validate.js';
import { TOKEN_HEADER } from './policy.js';
import * as schemas from './schemas.js';

const BODY_BYTES = 32 * 1024;

export interface CollectRouteDeps {
  readonly collect: Collect;
  readonly honorDoNotTrack: boolean;
  /** Lower case; undefined if countries are not counted. */
  readonly countryHeader: string | undefined;
  readonly isProxy: (address: string) => boolean;
}

export function collectRoute({ collect, honorDoNotTrack, countryHeader, isProxy }: CollectRouteDeps): Route {
  /** Reads the header only from trusted proxies, as any client can send it. */
  const countryIn = ({ headers, peer }: Pick<Request, 'headers' | 'peer'>) =>
    countryHeader !== undefined && isProxy(peer) ? parseCountry(headers[countryHeader]) : undefined;

  return route({
    method: 'POST',
    path: '/api/collect',
    tags: ['Collecting'],
    summary: 'Send a page view or an event, or up to 100 of them',
    description:
      'JSON under any content type, up to 32 KiB. 202 `{accepted: true}` means flushed. Ignored hits are answered 202 ' +
      'too, with the first reason that applies: `unknown_site`, `privacy_signal` (`DNT: 1` or `Sec-GPC: 1`), ' +
      '`host_not_allowed`, `ingest_token_required`, `bot`. Without `kind`, a payload with `event` is an event, else a ' +
      'page view. Items of a list are handled one by one and answered `{results: [{accepted, reason?, error?}]}` in ' +
      'the same order. Further reasons in lists: `too_many_hits` (with `Retry-After`) beyond ' +
      '`analytics.hitsPerMinute`, and `invalid_payload`, where `error` names the field. For a single payload these ' +
      'are 429 and 400. Hits of sites with an ingest token are not limited.',
    body: schemas.collectBody,
    strictBody: true,
    anyContentType: true,
    bodyLimit: BODY_BYTES,
    answers: {
      202: { description: 'Accepted, or ignored for a reason', schema: schemas.collectAnswer },
      429: { description: 'The network exceeds `analytics.hitsPerMinute`' },
      410: { description: 'The Idempotency-Key was used before and its hits have expired' },
    },
    async handle(request) {
      const { headers, address, context, idempotencyKey, ifPosition } = request;
      const { body } = request;
      const isBatch = Array.isArray(body);
      // A single payload was validated with the body.
      const items = isBatch ? body.map(itemOf) : [{ payload: body as Payload }];
      const result = await collect(items, {
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
      if (isRejection(result)) return result;
      const { verdicts, position, retryAfterMs } = result;
      return {
        status: 202,
        body: isBatch ? { results: verdicts } : verdicts[0],
        position,
        headers: retryAfterMs === undefined ? undefined : { 'Retry-After': retryAfter(retryAfterMs) },
      };
    },
  });
}

const validatePayload = bodyValidator(payload, true);

function itemOf(item: unknown, index: number): Item {
  const error = validatePayload(item);
  return error ? { error: messageWithPath(error, index) } : { payload: item as Payload };
}
