/** Idempotent ingest over a log in memory: stored once despite failures. */
import { expect } from 'chai';
import { type EventLog, UnavailableError } from '../../../../application/ports/index.js';
import { requestStream } from '../../../../domain/logs/retention-bucket.js';
import { withoutJitter } from '../../../support/fake-clock.js';
import { DAY, failure, lines, type MemoryIntake, memoryIntake, taken } from '../../../support/memory-ingest.js';
import { context } from '../../../support/toy-service.js';

describe('in memory, an ingest request with an idempotency key', () => {
  let world: MemoryIntake['world'];
  let kernel: MemoryIntake['kernel'];
  let time: MemoryIntake['time'];
  let ingestOf: MemoryIntake['ingestOf'];
  let stored: MemoryIntake['stored'];
  beforeEach(() => {
    ({ world, kernel, time, ingestOf, stored } = memoryIntake());
  });

  const how = context('request-1', 'the-body');
  const text = lines({ message: 'a' }, { message: 'b', audit: true });
  const both = [requestStream('request-1', false), requestStream('request-1', true)];

  it('is stored once and answered alike when repeated', async () => {
    const [one, other] = [ingestOf(), ingestOf()];
    const first = taken(await one.post(`${text}\nnonsense`, 'lines', 'api', how));
    expect(first.receipt).to.deep.include({ accepted: 2, rejected: 1 });
    time.now += DAY;
    const again = taken(await other.post(`${text}\nnonsense`, 'lines', 'api', how));
    expect(again.receipt).to.deep.equal(first.receipt);
    expect(again.ingested.position).to.equal(first.ingested.position);
    expect(await stored()).to.deep.equal(['a', 'b']);
    expect([one.totals().accepted, other.totals().accepted]).to.deep.equal([2, 0]);
    expect(one.reported).to.deep.equal(both.map((stream) => [stream, 1]));
  });

  it('costs only its appends', async () => {
    let reads = 0;
    const ingest = ingestOf({
      read: (...args) => {
        reads++;
        return kernel.log.read(...args);
      },
    });
    taken(await ingest.post(text, 'lines', 'api', how));
    expect(reads).to.equal(0);
    taken(await ingest.post(text, 'lines', 'api', how));
    expect(reads, 'the first answer and the length of both streams').to.equal(3);
  });

  it('is rejected if the key was used for another body', async () => {
    const ingest = ingestOf();
    taken(await ingest.post(text, 'lines', 'api', how));
    expect(await ingest.post(lines({ message: 'c' }), 'lines', 'api', context('request-1', 'other'))).to.include({
      rejected: 'logs/idempotency-key-reused',
      kind: 'misused-key',
    });
    expect(await stored()).to.deep.equal(['a', 'b']);
  });

  it('is completed by a repetition, wherever it was interrupted', async () => {
    const large = lines(
      ...Array.from({ length: 24 }, (_, nth) => ({
        message: `m${nth}`,
        audit: nth % 2 === 0,
        text: 'x'.repeat(60_000),
      })),
    );
    for (const appends of [1, 2, 3]) {
      world.all.length = 0;
      let remaining = appends;
      const crashing = ingestOf(
        {
          append: (...args) => (remaining-- > 0 ? kernel.log.append(...args) : Promise.reject(new Error('killed'))),
        },
        10_000_000,
      );
      expect(String(await failure(crashing.post(large, 'lines', 'api', how)))).to.include('killed');
      const { receipt } = taken(await ingestOf({}, 10_000_000).post(large, 'lines', 'api', how));
      expect(receipt.accepted).to.equal(24);
      expect((await stored()).toSorted()).to.have.length(24);
      expect(new Set(await stored())).to.have.property('size', 24);
    }
  });

  it('is stored once if answers of the log are lost', async () => {
    let calls = 0;
    const ingest = ingestOf({
      async append(...args) {
        const outcome = await kernel.log.append(...args);
        if (++calls % 2 === 1) throw new UnavailableError('answer lost');
        return outcome;
      },
    });
    taken(await ingest.post(text, 'lines', 'api', how));
    expect(await stored()).to.deep.equal(['a', 'b']);
  });

  it('is rejected as expired after its records expired', async () => {
    const ingest = ingestOf();
    taken(await ingest.post(text, 'lines', 'api', how));
    await kernel.log.tombstone(both[0]!);
    expect(await ingest.post(text, 'lines', 'api', how)).to.include({
      rejected: 'logs/request-expired',
      kind: 'gone',
    });
  });

  it('is rejected as expired or unavailable if the first request under its key cannot be found after a conflict', async () => {
    for (const [found, expected] of [
      ['deleted', 'logs/request-expired'],
      ['missing', 'UnavailableError'],
      [[], 'UnavailableError'],
    ] as const) {
      const ingest = ingestOf({ append: async () => ({ outcome: 'conflict' }), read: async () => found });
      const done = await ingest.post(text, 'lines', 'api', how).catch((error) => error);
      expect(done.rejected ?? done.name, String(found)).to.equal(expected);
    }
  });

  it('fails as unavailable if the key of its day is destroyed', async () => {
    const withFingerprint = { ...context(), fingerprint: 'print' };
    for (const bucket of ['batch', 'audit']) {
      const subject = `logs.${bucket}-api-20260301`;
      await kernel.vault.create(subject);
      await kernel.vault.destroy(subject);
      const text = lines({ message: 'a', audit: bucket === 'audit' });
      for (const request of [context(), withFingerprint])
        expect(await failure(ingestOf().post(text, 'lines', 'api', request)), bucket).to.be.instanceOf(
          UnavailableError,
        );
    }
    expect(await stored()).to.deep.equal([]);
  });

  it('is answered alike if only its audit records expired', async () => {
    const first = taken(await ingestOf().post(text, 'lines', 'api', how));
    await kernel.log.tombstone(both[1]!);
    const again = ingestOf();
    const { receipt, ingested } = taken(await again.post(text, 'lines', 'api', how));
    expect(receipt).to.deep.equal(first.receipt);
    expect(ingested.position).to.equal(100n);
    expect(again.reported).to.deep.equal([]);
  });

  it('is answered if its audit records expire while they are stored', async () => {
    const ingest = ingestOf({
      async append(stream, ...args) {
        if (stream === both[1]) await kernel.log.tombstone(stream);
        return kernel.log.append(stream, ...args);
      },
    });
    const { receipt, ingested } = taken(await ingest.post(text, 'lines', 'api', how));
    expect(receipt.accepted).to.equal(2);
    expect(ingested.position).to.equal(await kernel.head());
    expect(ingest.reported).to.deep.equal([[both[0], 1]]);
  });

  it('is retried while the log is away, and a few times after impossible conflicts', async () => {
    const tries = async (between: Partial<EventLog>) => {
      let calls = 0;
      const ingest = ingestOf({
        ...between,
        append: async (...args) => {
          calls++;
          return between.append?.(...args) ?? kernel.log.append(...args);
        },
      });
      const failed = await withoutJitter(() => failure(ingest.post(text, 'lines', 'api', how)));
      expect(failed).to.be.instanceOf(UnavailableError);
      return calls;
    };
    const away = () => Promise.reject(new UnavailableError('away'));
    expect(await tries({ append: away })).to.equal(10);
    const now = performance.now.bind(performance);
    const long = () => {
      performance.now = () => now() + 10_000;
      return away();
    };
    const tried = await tries({ append: long }).finally(() => {
      performance.now = now;
    });
    expect(tried, 'the time of the request is used up').to.equal(1);
    // A conflict is reported although the stream has no other events.
    expect(await tries({ append: async () => ({ outcome: 'conflict' }) })).to.equal(1);
    const conflicting: EventLog['append'] = async (stream, ...args) =>
      stream === both[1] ? { outcome: 'conflict' } : kernel.log.append(stream, ...args);
    expect(await tries({ append: conflicting })).to.equal(1 + 10);
    expect(await stored()).to.deep.equal(['a']);
  });
});
