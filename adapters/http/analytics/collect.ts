/** The route that takes hits in, from anywhere. */
import type { Collect } from '../../../application/analytics/collect.js';
import { countryOf } from '../../../domain/analytics/country.js';
import type { Payload } from '../../../domain/analytics/payload.js';
import { isRejection } from '../../../domain/shared/decider.js';
import { type Request, type Route, route } from '../kernel/route.js';
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
    countryHeader !== undefined && isProxy(peer) ? countryOf(headers[countryHeader]) : undefined;

  return route({
    method: 'POST',
    path: '/api/collect',
    tags: ['Collecting'],
    summary: 'Send a page view or an event, or up to 100 of them',
    description:
      'JSON under any content type, up to 32 KiB. 202 `{accepted: true}` means flushed; what is ignored is 202 as ' +
      'well, with the reason: `unknown_site`, `privacy_signal` (`DNT: 1` or `Sec-GPC: 1`), `host_not_allowed`, ' +
      '`ingest_token_required`, `bot`, the first of these that holds. A list is answered ' +
      '`{results: [{accepted, reason?}]}`. Without a `kind` it is an event if `event` is given, else a page view.',
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
      const body = request.body as Payload | readonly Payload[];
      const isBatch = Array.isArray(body);
      const judged = await collect(isBatch ? body : [body as Payload], {
        address,
        userAgent: headers['user-agent'] ?? '',
        privacySignal: honorDoNotTrack && (headers.dnt === '1' || headers['sec-gpc'] === '1'),
        origin: headers.origin,
        referer: headers.referer,
        token: headers[TOKEN_HEADER],
        country: countryIn(request),
        isKeyed: idempotencyKey !== undefined,
        context: (caller) => context('analytics.collect', caller),
        seen: ifPosition,
      });
      if (isRejection(judged)) return judged;
      const { verdicts, position } = judged;
      return {
        status: 202,
        body: isBatch ? { results: verdicts } : verdicts[0],
        ...(position !== undefined && { position }),
      };
    },
  });
}
