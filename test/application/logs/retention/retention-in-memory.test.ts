/** Retention and reindex over a log in memory: what is let go, and how a rebuild is begun, told of and finished. */
import { expect } from 'chai';
import { createAggregateStore } from '../../../../application/command/aggregate-store.js';
import { createReindex, type ReindexPorts, RUNNING } from '../../../../application/logs/admin/reindex.js';
import {
  createRetention,
  eraseReaction,
  retentionAggregate,
} from '../../../../application/logs/retention/expire-records.js';
import type { RecordedEvent } from '../../../../application/ports/index.js';
import { RETENTION_STREAM } from '../../../../domain/logs/retention.js';
import { batchStream, bucketSubject, requestStream } from '../../../../domain/logs/retention-bucket.js';
import { DAY, failure, lines, type MemoryIntake, memoryIntake, NOON, taken } from '../../../support/memory-ingest.js';
import { context } from '../../../support/toy-service.js';

describe('in memory, retention', () => {
  let world: MemoryIntake['world'];
  let kernel: MemoryIntake['kernel'];
  let time: MemoryIntake['time'];
  let clock: MemoryIntake['clock'];
  let ingestOf: MemoryIntake['ingestOf'];
  beforeEach(() => {
    ({ world, kernel, time, clock, ingestOf } = memoryIntake());
  });

  it('reads little of what it let go of before after a start, however many keepings ended', async () => {
    let day = 0;
    const run = createRetention({
      ...kernel,
      clock: { ...clock, confirmedNow: async () => NOON + day * DAY, inSync: () => true },
      days: 30,
      auditDays: 365,
      context: kernel.systemContext,
      receivedBefore: async (_, audit) =>
        audit ? [] : Array.from({ length: 300 }, (_, n) => ({ ...keeping, producerId: `file-${day}-${n}` })),
    });
    while (++day <= 10) await run();
    let read = 0;
    const log: typeof kernel.log = {
      ...kernel.log,
      async read(...asked) {
        const found = await kernel.log.read(...asked);
        read += found.length;
        return found;
      },
    };
    const { state, revision } = await createAggregateStore(log, kernel.decryptEvent).load(
      retentionAggregate,
      RETENTION_STREAM,
    );
    expect(revision).to.equal(3009);
    expect(state).to.deep.equal((await kernel.streams.load(retentionAggregate, RETENTION_STREAM)).state);
    expect(read).to.be.at.most(1000);
  });

  const keeping = { producerId: 'api', day: '20260301', audit: false };

  it('lets go of whole days, by the certain time only, and asks what ends with them', async () => {
    time.now = NOON + 400 * DAY;
    let certain: number | undefined;
    const asked: [string, boolean][] = [];
    const run = createRetention({
      ...kernel,
      clock: { ...clock, confirmedNow: async () => certain, inSync: () => true },
      days: 30,
      auditDays: 365,
      context: kernel.systemContext,
      async receivedBefore(day, audit) {
        asked.push([day, audit]);
        return audit ? [] : [keeping];
      },
    });
    await run();
    expect(world.all).to.have.length(0);
    certain = NOON + 31 * DAY;
    await run();
    await run();
    const facts = (await kernel.log.read(RETENTION_STREAM)) as readonly RecordedEvent[];
    expect(facts.map(({ type, data }) => [type, data])).to.deep.equal([
      ['RecordsExpired', { before: Date.UTC(2026, 2, 2), auditBefore: Date.UTC(2025, 3, 1) }],
      ['BatchesErased', keeping],
    ]);
    expect(asked[0]).to.deep.equal(['20260302', false]);
    expect(asked[1]).to.deep.equal(['20250401', true]);
    certain = DAY;
    await run();
    expect(asked.at(-1)).to.deep.equal(['19700101', true]);
  });

  it('destroys the key of what has expired, and ends its streams, however often it is told', async () => {
    const ingest = ingestOf();
    taken(await ingest.post(lines({ message: 'a' }, { message: 'b', audit: true }), 'lines', 'api', context()));
    taken(await ingest.post(lines({ message: 'c' }), 'lines', 'api', context('request-1', 'body')));
    const reaction = eraseReaction({
      ...kernel,
      async *requestStreams() {
        yield requestStream('request-1', false);
      },
    });
    expect(reaction.name).to.equal('logs.erase');
    for (const _ of [1, 2]) await reaction.on.BatchesErased({ data: keeping } as never);
    expect(await kernel.vault.seal(bucketSubject(keeping), {})).to.equal(undefined);
    expect(await kernel.log.read(batchStream(keeping, NOON))).to.equal('deleted');
    expect(await kernel.log.read(batchStream(keeping, NOON + 3_600_000))).to.equal('missing');
    expect(await kernel.log.read(requestStream('request-1', false))).to.equal('deleted');
    expect(await kernel.log.read(batchStream({ ...keeping, audit: true }, NOON))).to.have.length(1);
  });

  it('ends the streams of requests side by side, but not all of them, each once', async () => {
    const names = Array.from({ length: 70 }, (_, n) => requestStream(`request-${n}`, false));
    const ended: string[] = [];
    let [running, most] = [0, 0];
    const reaction = eraseReaction({
      ...kernel,
      log: {
        ...kernel.log,
        async tombstone(stream) {
          most = Math.max(most, ++running);
          await new Promise((resolve) => setImmediate(resolve));
          running--;
          ended.push(stream);
        },
      },
      async *requestStreams() {
        yield* names;
      },
    });
    await reaction.on.BatchesErased({ data: keeping } as never);
    expect(ended).to.deep.equal(names);
    expect(most).to.equal(32);
  });
});

describe('in memory, a reindex', () => {
  let kernel: MemoryIntake['kernel'];
  let time: MemoryIntake['time'];
  let clock: MemoryIntake['clock'];
  beforeEach(() => {
    ({ kernel, time, clock } = memoryIntake());
  });

  const ELSEWHERE = new Error('elsewhere');

  function fixture(more: Partial<ReindexPorts> = {}) {
    const it = { counts: [5, 4], builds: 0, finish: () => {}, fail: (_: Error) => {} };
    const reindex = createReindex({
      ...kernel,
      clock,
      context: kernel.systemContext,
      rebuild: (begun, told) =>
        new Promise((resolve, reject) => {
          it.builds++;
          begun();
          told(7, 30n, 40n);
          it.finish = () => resolve('build');
          it.fail = reject;
        }),
      underWay: async () => undefined,
      serving: async () => {},
      count: async () => it.counts.shift() ?? 0,
      isElsewhere: (error) => error === ELSEWHERE,
      ...more,
    });
    return { it, reindex };
  }

  it('tells how far it is, and what came of it', async () => {
    const { it, reindex } = fixture();
    expect(await reindex.progress()).to.equal(undefined);
    const started = taken(await reindex.start(context()));
    const startedAt = new Date(NOON).toISOString();
    expect(await reindex.progress()).to.deep.equal({
      id: started.id,
      state: 'running',
      startedAt,
      events: 7,
      position: '30',
      until: '40',
    });
    time.now += 1500;
    it.finish();
    const { report, position } = taken(await started.done);
    expect(report).to.deep.equal({
      report: {
        mode: 'full',
        recordsInserted: 4,
        recordsSkipped: 1,
        parseErrors: 0,
        startedAt,
        finishedAt: new Date(NOON + 1500).toISOString(),
        durationMs: 1500,
      },
      reset: { entriesDeleted: 5 },
    });
    expect(position).to.equal(await kernel.head());
    expect(await reindex.progress()).to.deep.include({ state: 'done', ...report });
  });

  it('is refused while another one runs, here or elsewhere, and the one that runs is still told of', async () => {
    const { it, reindex } = fixture();
    const { id, done } = taken(await reindex.start(context()));
    expect(await reindex.start(context())).to.deep.include(RUNNING);
    expect(await reindex.progress()).to.include({ id, state: 'running' });
    it.finish();
    await done;
    const elsewhere = fixture({ underWay: async () => ({ position: 3n, until: 9n }) });
    expect(await elsewhere.reindex.start(context())).to.deep.include(RUNNING);
    expect(await elsewhere.reindex.progress()).to.deep.equal({ state: 'running', position: '3', until: '9' });
    const late = fixture({ rebuild: () => Promise.reject(ELSEWHERE) });
    expect(await late.reindex.start(context())).to.deep.include(RUNNING);
    expect(await late.reindex.progress()).to.equal(undefined);
  });

  it('is begun once by a command that comes again, on another node too', async () => {
    const how = context('reindex-1', 'body');
    const { it, reindex } = fixture();
    const first = taken(await reindex.start(how));
    const again = taken(await reindex.start(how));
    expect(again.id).to.equal(first.id);
    it.finish();
    const report = taken(await first.done).report;
    expect(taken(await again.done).report).to.deep.equal(report);
    const other = fixture();
    expect(taken(await taken(await other.reindex.start(how)).done).report).to.deep.equal(report);
    expect([it.builds, other.it.builds]).to.deep.equal([1, 0]);
  });

  it('that failed says so, and is begun again by the same command', async () => {
    const how = context('reindex-1', 'body');
    const { it, reindex } = fixture();
    const { id, done } = taken(await reindex.start(how));
    it.fail(new Error('no room on the disk'));
    expect(String(await failure(done))).to.include('no room on the disk');
    expect(await reindex.progress()).to.include({ id, state: 'failed' });
    const again = taken(await reindex.start(how));
    it.finish();
    await again.done;
    expect([it.builds, (await reindex.progress())?.state]).to.deep.equal([2, 'done']);
  });

  it('whose process died is begun by the same command, once nobody else is at it', async () => {
    const how = context('reindex-1', 'body');
    await fixture().reindex.start(how);
    let elsewhere: { readonly position: bigint; readonly until: bigint } | undefined = {
      position: 3n,
      until: 9n,
    };
    const { it, reindex } = fixture({ underWay: async () => elsewhere });
    expect(await reindex.start(how)).to.deep.include(RUNNING);
    elsewhere = undefined;
    expect(await reindex.progress()).to.equal(undefined);
    const { done } = taken(await reindex.start(how));
    it.finish();
    await done;
    expect([it.builds, (await reindex.progress())?.state]).to.deep.equal([1, 'done']);
  });

  it('that could not be begun is as if nobody had asked for it', async () => {
    let away = true;
    const { it, reindex } = fixture({
      underWay: async () => {
        if (away) throw new Error('away');
        return undefined;
      },
    });
    expect(String(await failure(reindex.start(context())))).to.include('away');
    away = false;
    expect(await reindex.progress()).to.equal(undefined);
    const { done } = taken(await reindex.start(context()));
    it.finish();
    await done;
    expect(it.builds).to.equal(1);
  });
});
