/** The cache of open blocks is bounded in number and bytes; the least recently used block is evicted. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { AnyBulkWriteOperation } from 'mongodb';
import type { RecordedEvent } from '../../../../application/ports/index.js';
import type { Build, Row } from '../../../../projections/kernel/projection.js';
import { records } from '../../../../projections/logs/index/records.js';
import { NOON } from '../../../domain/logs/arbitrary.js';
import { type IndexFixture, startIndexFixture } from '../../../support/record-index.js';

/** Concurrent requests; more would exceed the deadline of a call on a busy machine. */
const PARALLEL = 20;

describe('the cache of open blocks', function () {
  this.timeout(120_000);
  let fixture: IndexFixture;

  before(async () => {
    fixture = await startIndexFixture();
  });
  after(() => fixture?.stop());

  /** An index that counts its lookups of blocks in the store per batch of events. */
  async function indexWithCounter() {
    const name = `logs_records_v${records.version}_${randomUUID().slice(0, 8)}`;
    const { mongo, vault } = fixture.kernel;
    let lookups = 0;
    const collection: Build['collection'] = (part) => {
      if (part === 'blocks') lookups++;
      return mongo.models.collection(`${name}.${part}`) as never;
    };
    const apply = await records.open({
      vault,
      collection,
      parts: async () => [],
      drop: async () => {},
      async write(part, writes) {
        await mongo.models.collection<Row>(`${name}.${part}`).bulkWrite(writes as AnyBulkWriteOperation<Row>[]);
      },
    });
    return async (events: readonly RecordedEvent[]) => {
      const before = lookups;
      await apply(events);
      return lookups - before;
    };
  }

  /** One request per producer, in log order. */
  async function requests(producers: readonly string[], note: string) {
    const records = [{ timestamp: NOON, note }];
    const events: RecordedEvent[] = [];
    for (let from = 0; from < producers.length; from += PARALLEL) {
      const some = producers.slice(from, from + PARALLEL);
      const all = some.map((producerId) => fixture.ingested([{ producerId, receivedAt: NOON, records }]));
      events.push(...(await Promise.all(all)).flat());
    }
    return events.sort((a, b) => Number(a.position - b.position));
  }

  for (const [what, count, cached, note] of [
    ['to a thousand producers', 1030, 1000, 'short'],
    ['to a few megabytes', 120, 110, 'long '.repeat(40_000)],
  ] as const)
    it(`is bounded ${what}`, async () => {
      const looksOf = await indexWithCounter();
      const events = await requests(
        Array.from({ length: count }, (_, n) => `p${n}`),
        note,
      );
      await looksOf(events);
      const producers = events.map(({ data }) => (data as { readonly producerId: string }).producerId);
      const again = async (some: readonly string[]) => looksOf(await requests(some, 'again'));
      expect(await again(producers.slice(-10)), 'newest producers').to.equal(0);
      expect(await again(producers.slice(0, count - cached)), 'oldest producers').to.equal(count - cached);
    });
});
