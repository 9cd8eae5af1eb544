/** What the record index remembers between batches has a bound, in number and in bytes: what was in use longest ago goes. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { AnyBulkWriteOperation } from 'mongodb';
import type { RecordedEvent } from '../../../../application/ports/index.js';
import type { Build, Row } from '../../../../projections/kernel/projection.js';
import { records } from '../../../../projections/logs/index/records.js';
import { NOON } from '../../../domain/logs/arbitrary.js';
import { type IndexFixture, startIndexFixture } from '../../../support/record-index.js';

const DAY = 'd20261121';

describe('what the record index remembers of blocks that gather', function () {
  this.timeout(120_000);
  let fixture: IndexFixture;

  before(async () => {
    fixture = await startIndexFixture();
  });
  after(() => fixture?.stop());

  /** An index, and how many blocks it has looked for in the store when it has taken so many events. */
  async function looking() {
    const name = `logs_records_v${records.version}_${randomUUID().slice(0, 8)}`;
    const { mongo, vault } = fixture.kernel;
    let looked = 0;
    const collection: Build['collection'] = (part) => {
      if (part === DAY) looked++;
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
      const before = looked;
      await apply(events);
      return looked - before;
    };
  }

  /** One of each producer, in the order of the log. */
  async function requests(producers: readonly string[], note: string) {
    const records = [{ timestamp: NOON, note }];
    const all = producers.map((producerId) => fixture.ingested([{ producerId, receivedAt: NOON, records }]));
    return (await Promise.all(all)).flat().sort((a, b) => Number(a.position - b.position));
  }

  for (const [what, count, kept, note] of [
    ['of no more than a thousand producers', 1030, 1000, 'short'],
    ['no more than some megabytes', 120, 110, 'long '.repeat(40_000)],
  ] as const)
    it(`is ${what}`, async () => {
      const looksOf = await looking();
      const events = await requests(
        Array.from({ length: count }, (_, n) => `p${n}`),
        note,
      );
      await looksOf(events);
      const producers = events.map(({ data }) => (data as { readonly producerId: string }).producerId);
      const again = async (some: readonly string[]) => looksOf(await requests(some, 'again'));
      expect(await again(producers.slice(-10)), 'of the newest').to.equal(0);
      expect(await again(producers.slice(0, count - kept)), 'of the oldest').to.equal(count - kept);
    });
});
