/** Records on their way into a log in memory: taken in, told of, stored once, and appended together. */
import { expect } from 'chai';
import { type Appender, createAppender } from '../../../application/logs/appender.js';
import type { Records } from '../../../application/logs/ingest.js';
import { newEvent } from '../../../application/new-event.js';
import { type EventLog, type RecordedEvent, Unavailable } from '../../../application/ports.js';
import { requestStream } from '../../../domain/logs/batch.js';
import { isRejection } from '../../../domain/shared/decider.js';
import { quiet } from '../../support/engines.js';
import { heldTime } from '../../support/held-time.js';
import { holdTimers } from '../../support/held-timers.js';
import { recordText } from '../../support/logs.js';
import {
  DAY,
  failure,
  lines,
  type MemoryIntake,
  memoryIntake,
  NOON,
  taken,
} from '../../support/memory-intake.js';
import { context } from '../../support/toys.js';

/** What is tried again is tried again at once. */
async function withoutPauses<T>(work: () => Promise<T>): Promise<T> {
  const { random } = Math;
  Math.random = () => 0;
  return work().finally(() => {
    Math.random = random;
  });
}

describe('in memory, ingest', () => {
  let world: MemoryIntake['world'];
  let kernel: MemoryIntake['kernel'];
  let ingestOf: MemoryIntake['ingestOf'];
  let stored: MemoryIntake['stored'];
  beforeEach(() => {
    ({ world, kernel, ingestOf, stored } = memoryIntake());
  });

  it('says what it took, and what not, by lines', async () => {
    const ingest = ingestOf();
    const text = `${lines({ message: 'a' }, { message: 'b', audit: true })}\nnonsense\n[]`;
    const { receipt, ingested } = taken(await ingest.post(text, 'lines', 'api', context()));
    expect(receipt).to.deep.equal({
      accepted: 2,
      rejected: 2,
      queued: false,
      producerId: 'api',
      receivedAt: new Date(NOON).toISOString(),
      errors: [
        { line: 3, error: 'Line 3 is not valid JSON' },
        { line: 4, error: 'Line 4 is not a JSON object' },
      ],
    });
    expect(ingested).to.deep.equal({ receivedAt: NOON, position: await kernel.head(), visible: true });
    expect(ingest.latest()).to.equal(ingested.position);
    expect(ingest.totals()).to.deep.equal({ accepted: 2, rejected: 2, waitingBytes: 0 });
    expect(await stored(['logs.batch-api-2026-03-01-12'])).to.deep.equal(['a']);
    expect(await stored(['logs.audit-api-2026-03-01-12'])).to.deep.equal(['b']);
    expect(ingest.told.map(([, events]) => events)).to.deep.equal([1, 1]);
    expect(ingest.waits).to.deep.equal([['logs', ingested.position]]);
  });

  it('says of each batch which service and release took it, and on whose request', async () => {
    const how = context();
    taken(await ingestOf().post(lines({ message: 'a' }), 'lines', 'api', how));
    const [batch] = (await kernel.log.read('logs.batch-api-2026-03-01-12')) as readonly RecordedEvent[];
    expect(batch!.metadata).to.deep.include({ service: 'logs', release: 'test', commandId: how.commandId });
  });

  it('says when the index has not seen in time what was taken', async () => {
    const late = ingestOf({}, undefined, false);
    const { ingested } = taken(await late.post(lines({ message: 'a' }), 'lines', 'api', context()));
    expect(ingested).to.deep.equal({ receivedAt: NOON, position: await kernel.head(), visible: false });
  });

  it('refuses what is no JSON, too many records, and what there is no room for', async () => {
    const ingest = ingestOf({}, 1000);
    expect(await ingest.post('{', 'json', 'api', context())).to.include({
      rejected: 'logs/not-json',
      kind: 'invalid',
    });
    const many = '{}\n'.repeat(50_001);
    expect(await ingest.post(many, 'lines', 'api', context())).to.include({
      rejected: 'logs/too-many-records',
    });
    const free = ingest.room.used();
    expect(ingest.bodies.take(200, 'ada')).to.equal(true);
    expect(ingest.totals().waitingBytes).to.equal(800);
    expect(await ingest.post(lines({ a: 1 }, { a: 2 }), 'lines', 'api', context())).to.deep.include({
      rejected: 'logs/queue-full',
      kind: 'limit',
      retryAfterMs: 1000,
    });
    expect(isRejection(await ingest.post(lines({ a: 1 }), 'lines', 'api', context()))).to.equal(false);
    ingest.bodies.give(200, 'ada');
    expect(ingest.room.used()).to.equal(free);
    expect(ingest.totals()).to.include({ accepted: 1, rejected: 0 });
  });

  it('stores nothing of a caller who has gone, and gives its room back when it fails', async () => {
    const ingest = ingestOf();
    const gone = await ingest.post(lines({ a: 1 }), 'lines', 'api', context(), AbortSignal.abort());
    expect(gone).to.include({ rejected: 'logs/request-abandoned' });
    expect(world.all).to.have.length(0);
    const broken = ingestOf({ append: () => Promise.reject(new Error('broken')) });
    expect(String(await failure(broken.post(lines({ a: 1 }), 'lines', 'api', context())))).to.include(
      'broken',
    );
    expect(broken.totals()).to.deep.equal({ accepted: 0, rejected: 0, waitingBytes: 0 });
  });

  it('takes a piece of a file with how far it was read', async () => {
    const ingest = ingestOf();
    const given: Records = {
      producerId: 'host',
      records: [recordText({ message: 'a' }), recordText({ message: 'b' })],
      rejected: 1,
      source: { id: 'file-1', offset: 99 },
    };
    expect(taken(await ingest.take(given, context()))).to.deep.include({ receivedAt: NOON, visible: true });
    expect(ingest.totals()).to.deep.equal({ accepted: 2, rejected: 1, waitingBytes: 0 });
    const data = world.all.at(-1)!.data as { source?: object };
    expect(data.source).to.deep.equal({ id: 'file-1', offset: 99 });
    const full = ingestOf({}, 100);
    full.bodies.take(20, 'ada');
    expect(await full.take(given, context())).to.include({ rejected: 'logs/queue-full' });
  });
});

describe('in memory, a request with a key', () => {
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

  it('is stored once, and answered alike whenever it comes again', async () => {
    const [one, other] = [ingestOf(), ingestOf()];
    const first = taken(await one.post(`${text}\nnonsense`, 'lines', 'api', how));
    expect(first.receipt).to.deep.include({ accepted: 2, rejected: 1 });
    time.now += DAY;
    const again = taken(await other.post(`${text}\nnonsense`, 'lines', 'api', how));
    expect(again.receipt).to.deep.equal(first.receipt);
    expect(again.ingested.position).to.equal(first.ingested.position);
    expect(await stored()).to.deep.equal(['a', 'b']);
    expect([one.totals().accepted, other.totals().accepted]).to.deep.equal([2, 0]);
    expect(one.told).to.deep.equal(both.map((stream) => [stream, 1]));
  });

  it('is not another one under its key', async () => {
    const ingest = ingestOf();
    taken(await ingest.post(text, 'lines', 'api', how));
    expect(
      await ingest.post(lines({ message: 'c' }), 'lines', 'api', context('request-1', 'other')),
    ).to.include({
      rejected: 'logs/idempotency-key-reused',
      kind: 'conflict',
    });
    expect(await stored()).to.deep.equal(['a', 'b']);
  });

  it('is completed by its repetition wherever it was broken off', async () => {
    const large = lines(
      ...Array.from({ length: 24 }, (_, nth) => ({
        message: `m${nth}`,
        audit: nth % 2 === 0,
        text: 'x'.repeat(60_000),
      })),
    );
    for (const appends of [1, 2, 3]) {
      world.all.length = 0;
      let left = appends;
      const crashing = ingestOf(
        {
          append: (...given) =>
            left-- > 0 ? kernel.log.append(...given) : Promise.reject(new Error('killed')),
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

  it('is there once though answers got lost, and tried again while the log is away', async () => {
    let calls = 0;
    const ingest = ingestOf({
      async append(...given) {
        const outcome = await kernel.log.append(...given);
        if (++calls % 2 === 1) throw new Unavailable('the answer got lost');
        return outcome;
      },
    });
    taken(await ingest.post(text, 'lines', 'api', how));
    expect(await stored()).to.deep.equal(['a', 'b']);
  });

  it('has expired when its records have', async () => {
    const ingest = ingestOf();
    taken(await ingest.post(text, 'lines', 'api', how));
    await kernel.log.tombstone(both[0]!);
    expect(await ingest.post(text, 'lines', 'api', how)).to.include({
      rejected: 'logs/request-expired',
      kind: 'gone',
    });
  });

  it('is answered as ever when only its audit records have expired', async () => {
    const first = taken(await ingestOf().post(text, 'lines', 'api', how));
    await kernel.log.tombstone(both[1]!);
    const again = ingestOf();
    const { receipt, ingested } = taken(await again.post(text, 'lines', 'api', how));
    expect(receipt).to.deep.equal(first.receipt);
    expect(ingested.position).to.equal(100n);
    expect(again.told).to.deep.equal([]);
  });

  it('is answered when its audit records expire while they are stored', async () => {
    const ingest = ingestOf({
      async append(stream, ...given) {
        if (stream === both[1]) await kernel.log.tombstone(stream);
        return kernel.log.append(stream, ...given);
      },
    });
    const { receipt, ingested } = taken(await ingest.post(text, 'lines', 'api', how));
    expect(receipt.accepted).to.equal(2);
    expect(ingested.position).to.equal(await kernel.head());
    expect(ingest.told).to.deep.equal([[both[0], 1]]);
  });

  it('is tried again a few times only while the log is away, or says what can not be', async () => {
    const tries = async (between: Partial<EventLog>) => {
      let calls = 0;
      const ingest = ingestOf({
        ...between,
        append: async (...given) => {
          calls++;
          return between.append?.(...given) ?? kernel.log.append(...given);
        },
      });
      const failed = await withoutPauses(() => failure(ingest.post(text, 'lines', 'api', how)));
      expect(failed).to.be.instanceOf(Unavailable);
      return calls;
    };
    const away = () => Promise.reject(new Unavailable('away'));
    expect(await tries({ append: away })).to.equal(10);
    // Others are said to be there, and never are.
    expect(await tries({ append: async () => ({ outcome: 'conflict' }) })).to.equal(1);
    const conflicting: EventLog['append'] = async (stream, ...given) =>
      stream === both[1] ? { outcome: 'conflict' } : kernel.log.append(stream, ...given);
    expect(await tries({ append: conflicting })).to.equal(1 + 10);
    expect(await stored()).to.deep.equal(['a']);
  });
});

describe('in memory, an appender', () => {
  let kernel: MemoryIntake['kernel'];
  let stored: MemoryIntake['stored'];
  beforeEach(() => {
    ({ kernel, stored } = memoryIntake());
  });

  const stream = 'logs.batch-api-2026-03-01-12';
  const batch = (message: string, bytes = 100) => {
    const event = {
      type: 'RecordsIngested',
      data: {
        producerId: 'api',
        day: '20260301',
        audit: false,
        count: 1,
        receivedAt: NOON,
        rejected: 0,
        secret: { lines: JSON.stringify({ message }) },
      },
    };
    return { event: newEvent({ service: 'logs', release: 'test' }, stream, event, 0, context()), bytes };
  };
  const over = (append: EventLog['append'] = kernel.log.append) => {
    const told: number[] = [];
    const appender: Appender = createAppender({
      log: { ...kernel.log, append },
      logger: quiet,
      appended: (_, __, events) => void told.push(events),
    });
    return { ...appender, told };
  };
  beforeEach(() => kernel.vault.create('logs.batch-api-20260301'));

  it('puts together what waits together, in order, and never more than an append may hold', async () => {
    const { append, told, waitingBytes } = over();
    const small = ['a', 'b', 'c'].map((message) => append(stream, [batch(message)]));
    expect(waitingBytes()).to.equal(300);
    const positions = await Promise.all(small);
    expect(new Set(positions)).to.have.property('size', 1);
    expect(told).to.deep.equal([3]);
    await append(stream, [
      batch('d', 400_000),
      batch('e', 400_000),
      batch('f', 200_000),
      batch('g', 900_000),
    ]);
    expect(told).to.deep.equal([3, 1, 2, 1]);
    await append(
      stream,
      Array.from({ length: 1001 }, (_, nth) => batch(`h${nth}`, 1)),
    );
    expect(told.slice(4)).to.deep.equal([1000, 1]);
    expect((await stored([stream])).slice(0, 7)).to.deep.equal([...'abcdefg']);
    expect(waitingBytes()).to.equal(0);
  });

  it('finds what was taken without an answer, and what others put between', async () => {
    let calls = 0;
    const { append } = over(async (...given) => {
      const outcome = await kernel.log.append(...given);
      if (++calls === 2) throw new Unavailable('lost');
      return outcome;
    });
    await append(stream, [batch('one')]);
    const second = await append(stream, [batch('two')]);
    expect(second).to.equal(await kernel.head());
    await over().append(stream, [batch('other')]);
    await append(stream, [batch('three')]);
    expect(await stored([stream])).to.deep.equal(['one', 'two', 'other', 'three']);
  });

  it('fails what waits with a failure, and not what comes after it', async () => {
    let broken = true;
    const { append, waitingBytes } = over(async (...given) => {
      if (broken) throw new Error('broken');
      return kernel.log.append(...given);
    });
    const both = await Promise.all([
      failure(append(stream, [batch('a')])),
      failure(append(stream, [batch('b')])),
    ]);
    for (const each of both) expect(String(each)).to.include('broken');
    broken = false;
    await append(stream, [batch('c')]);
    expect(await stored([stream])).to.deep.equal(['c']);
    expect(waitingBytes()).to.equal(0);
    await kernel.log.tombstone(stream);
    for (const appender of [append, over().append])
      expect(String(await failure(appender(stream, [batch('d')])))).to.include('ended by retention');
  });

  it('tries ten times while the log is away', async () => {
    let calls = 0;
    const { append, waitingBytes } = over(() => {
      calls++;
      return Promise.reject(new Unavailable('away'));
    });
    const failed = await withoutPauses(() => failure(append(stream, [batch('a')])));
    expect(failed).to.be.instanceOf(Unavailable);
    expect([calls, waitingBytes()]).to.deep.equal([10, 0]);
  });

  it('gives up after 6 s what was never sent, and goes on with what was', async () => {
    const time = heldTime();
    const release = holdTimers(time);
    try {
      let [answer, sent] = [() => {}, 0];
      const { append, waitingBytes } = over(async (...given) => {
        if (++sent === 1) await new Promise<void>((resolve) => (answer = resolve));
        return kernel.log.append(...given);
      });
      const first = append(stream, [batch('first')]);
      while (sent === 0) await new Promise(setImmediate);
      time.pass(1000);
      const late = failure(append(stream, [batch('late', 200), batch('as late', 300)]));
      time.pass(5999);
      expect(waitingBytes()).to.equal(600);
      const later = append(stream, [batch('later', 50)]);
      time.pass(1);
      expect(waitingBytes()).to.equal(150);
      expect(await late).to.be.instanceOf(Unavailable);
      answer();
      expect([await first, await later]).to.deep.equal([100n, 200n]);
      expect(await stored([stream])).to.deep.equal(['first', 'later']);
      expect(waitingBytes()).to.equal(0);
    } finally {
      release();
    }
  });
});
