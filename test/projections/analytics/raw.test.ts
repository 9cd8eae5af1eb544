/** The rows of raw records: only what says that it is kept, until it goes by its age or with its site. */
import type { AnalyticsEvent } from '../../../domain/analytics/catalog.js';
import { collected } from '../../../domain/analytics/traffic.js';
import { raw } from '../../../projections/analytics/raw.js';
import { projectionSpec, sealed } from '../../support/projection-spec.js';

const NOON = Date.UTC(2026, 10, 22, 12);

describe('raw records', function () {
  this.timeout(60_000);
  type Kept = AnalyticsEvent<'HitsCollected' | 'SiteDeleted' | 'RawExpired'>;
  const { given } = projectionSpec(
    raw,
    ({ type, data }: Kept) => `analytics.${type}-${'instance' in data ? data.instance : 'main'}`,
  );
  const hits = (instance: string, at: number, isRaw: boolean): Kept =>
    collected({ siteId: instance, instance }, at, [{ path: '/' }], [], isRaw);
  const row = (id: string, site: string, at: number) => ({
    _id: id,
    site,
    at,
    secret: sealed({ hits: [{ path: '/' }], visitors: [] }),
  });

  it('are kept of what says so, as it stands in the log', () =>
    given(hits('one', NOON, true), hits('one', NOON, false)).thenRows(row('e0', 'one', NOON)));

  it('go by their age, and with their site', () =>
    given(
      hits('one', NOON, true),
      hits('one', NOON + 1, true),
      hits('two', NOON + 1, true),
      { type: 'RawExpired', data: { before: NOON + 1, rows: 1, expiredAt: NOON + 2 } },
      { type: 'SiteDeleted', data: { siteId: 'two', instance: 'two', registeredAt: 0, deletedAt: NOON } },
    ).thenRows(row('e1', 'one', NOON + 1)));
});
