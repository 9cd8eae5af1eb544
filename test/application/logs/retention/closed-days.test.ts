/** Records for a day that retention expired too early because a clock ran ahead and was corrected later. */
import { expect } from 'chai';
import { createRetention, eraseReaction } from '../../../../application/logs/retention/expire-records.js';
import { UnavailableError } from '../../../../application/ports/index.js';
import { batchStream, batchStreams, requestStream } from '../../../../domain/logs/retention-bucket.js';
import { DAY, failure, lines, memoryIntake, NOON, taken } from '../../../support/memory-ingest.js';
import { context } from '../../../support/toy-service.js';

describe('in memory, records of an expired day', () => {
  it('are stored in the first day that has not expired, once the node knows of the expiry', async () => {
    const { kernel, clock, ingestOf, stored } = memoryIntake();
    const bucket = { producerId: 'api', day: '20260301', audit: false };
    const ingest = ingestOf();
    const both = lines({ message: 'a' }, { message: 'b', audit: true });
    taken(await ingest.post(both, 'lines', 'api', context()));
    const ended = [false, true].map((audit) => ({ ...bucket, audit }));
    await createRetention({
      ...kernel,
      clock: { ...clock, confirmedNow: async () => NOON + 400 * DAY, inSync: () => true },
      days: 30,
      auditDays: 365,
      context: kernel.systemContext,
      receivedBefore: async (_, audit) => ended.filter((each) => each.audit === audit),
    })();
    const reaction = eraseReaction({ ...kernel, async *requestStreams() {} });
    for (const data of ended) await reaction.on.BatchesErased({ data } as never);

    for (const request of [context(), context('request-1', 'body')]) {
      // Each node learns it from its first request.
      const restarted = ingestOf();
      expect(await failure(restarted.post(both, 'lines', 'api', request))).to.be.instanceOf(UnavailableError);
      for (const _ of [1, 2]) {
        const { receipt } = taken(await restarted.post(both, 'lines', 'api', request));
        expect(receipt).to.deep.include({ accepted: 2, receivedAt: new Date(NOON).toISOString() });
      }
    }
    const [next, nextAudit] = [
      { ...bucket, day: '20270306' },
      { ...bucket, day: '20260405', audit: true },
    ];
    expect(batchStreams(next)).to.include(batchStream(next, NOON));
    const found = [batchStream(next, NOON), batchStream(nextAudit, NOON)];
    expect(found).to.deep.equal(['logs.batch-api-2027-03-06-12', 'logs.audit-api-2026-04-05-12']);
    const requestStreams = [false, true].map((audit) => requestStream('request-1', audit));
    // Without a key, each request is a different one.
    expect(await stored([...found, ...requestStreams])).to.deep.equal(['a', 'a', 'b', 'b', 'a', 'b']);
  });
});
