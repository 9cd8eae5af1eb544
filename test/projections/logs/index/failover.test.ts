/** The record index after failovers between, and within, its bulks of writes: it answers like a scan, and equals a rebuilt index. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { EVERYTHING, matches } from '../../../../domain/logs/filter.js';
import { compareRecords } from '../../../../domain/logs/record-id.js';
import { DAY_MS, startOfDay } from '../../../../domain/logs/timestamp.js';
import { records } from '../../../../projections/logs/index/records.js';
import { filter, NOON } from '../../../domain/logs/arbitrary.js';
import { deliverWithFailovers, leaders, splittingBulks } from '../../../support/failovers.js';
import { foundIn } from '../../../support/log-node.js';
import { type IndexFixture, type Request, requests, startIndexFixture } from '../../../support/record-index.js';

describe('the record index after failovers', function () {
  this.timeout(180_000);
  let fixture: IndexFixture;
  before(async () => {
    fixture = await startIndexFixture();
  });
  after(() => fixture?.stop());

  it('answers like a scan of the records, after ingest, retention and more ingest', async () => {
    const filters = fc.array(filter, { minLength: 4, maxLength: 4 });
    const day = fc.constantFrom(-1, 0, 1);
    await fc.assert(
      fc.asyncProperty(requests, day, requests, leaders(8, 60), filters, async (early, days, late, all, some) => {
        const before = startOfDay(NOON) + days * DAY_MS;
        const remains = ({ receivedAt }: Request) => receivedAt >= before;
        const [expired, kept] = [
          await fixture.ingested(early.filter((each) => !remains(each))),
          await fixture.ingested(early.filter(remains)),
        ];
        const expiry = fixture.recorded({ before, auditBefore: before }, 'RecordsExpired');
        const later = await fixture.ingested(late);
        const events = [...expired, ...kept, expiry, ...later];
        const name = `logs_records_v${records.version}_${randomUUID().slice(0, 8)}`;
        await deliverWithFailovers(
          events,
          (lease) => fixture.kernel.builds.open(splittingBulks(records), name, lease),
          all,
        );
        const existing = [
          ...(await fixture.placedRecords(kept)).filter(({ instant }) => instant >= before),
          ...(await fixture.placedRecords(later)),
        ].sort(compareRecords);
        for (const each of [EVERYTHING, ...some])
          expect(await foundIn(fixture.indexOf(name), each, 'asc')).to.deep.equal(
            existing.filter((record) => matches(each, record)),
          );
        const rebuilt = await fixture.build(events);
        expect(await fixture.rowsOf(name)).to.deep.equal(await fixture.rowsOf(rebuilt));
        await Promise.all([fixture.kernel.builds.drop(name), fixture.kernel.builds.drop(rebuilt)]);
      }),
      { numRuns: 3, endOnFailure: true },
    );
  });
});
