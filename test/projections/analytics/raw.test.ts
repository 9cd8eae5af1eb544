/** Rows of raw hits: stored if flagged, until they expire or their site is deleted. */
import { expect } from 'chai';
import { Long } from 'mongodb';
import type { AnalyticsEvent } from '../../../domain/analytics/catalog.js';
import { hitsCollected } from '../../../domain/analytics/hit.js';
import { createRawCounter, type RawRow, raw } from '../../../projections/analytics/raw.js';
import { projectionSpec, sealed } from '../../support/projection-spec.js';
import { startKernel } from '../../support/test-kernel.js';

const NOON = Date.UTC(2026, 10, 22, 12);

describe('the rows of raw hits', function () {
  this.timeout(60_000);
  type RawEvent = AnalyticsEvent<'HitsCollected' | 'SiteDeleted' | 'RawExpired'>;
  const { given } = projectionSpec(
    raw,
    ({ type, data }: RawEvent) => `analytics.${type}-${'instance' in data ? data.instance : 'main'}`,
  );
  const hits = (instance: string, at: number, isRaw: boolean): RawEvent =>
    hitsCollected({ siteId: instance, instance }, at, [{ path: '/' }], [], isRaw);
  const row = (id: string, site: string, at: number) => ({
    _id: id,
    site,
    at,
    secret: sealed({ hits: [{ path: '/' }], visitors: [] }),
  });

  it('contain flagged hits as encrypted in the log', () =>
    given(hits('one', NOON, true), hits('one', NOON, false)).thenRows(row('e0', 'one', NOON)));

  it('are deleted by age and with their site', () =>
    given(
      hits('one', NOON, true),
      hits('one', NOON + 1, true),
      hits('two', NOON + 1, true),
      { type: 'RawExpired', data: { before: NOON + 1, rows: 1, expiredAt: NOON + 2 } },
      { type: 'SiteDeleted', data: { siteId: 'two', instance: 'two', registeredAt: 0, deletedAt: NOON } },
    ).thenRows(row('e1', 'one', NOON + 1)));

  it('are counted in chunks, even with many hits at one instant', async () => {
    const { kernel, stop } = await startKernel();
    try {
      const rows = kernel.mongo.models.collection<RawRow>('counted');
      const instants = [1, 2, 2, 2, 2, 2, 3, 4, 4, 5, 6, 7, 9];
      await rows.insertMany(instants.map((at, n) => ({ _id: `e${n}`, _at: Long.ONE, site: 'one', at, secret: '' })));
      const pieces: number[] = [];
      const countDocuments: typeof rows.countDocuments = async (filter) => {
        pieces.push(await rows.countDocuments(filter));
        return pieces.at(-1)!;
      };
      const { models } = kernel.mongo;
      const db = Object.create(models, {
        collection: { value: () => Object.create(rows, { countDocuments: { value: countDocuments } }) },
      });
      const { countBefore } = createRawCounter(db, () => 'counted', { piece: 2 });
      const counts = [];
      for (let instant = 0; instant <= 10; instant++) counts.push(await countBefore(instant));
      expect(counts).to.deep.equal([0, 0, 1, 6, 7, 9, 10, 11, 12, 12, 13]);
      expect(Math.max(...pieces)).to.equal(6);
    } finally {
      await stop();
    }
  });
});
