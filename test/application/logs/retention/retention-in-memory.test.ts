/** Retention and reindex over a log in memory: what expires, and the life cycle of a reindex. */
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

describe('in memory, log retention', () => {
  let world: MemoryIntake['world'];
  let kernel: MemoryIntake['kernel'];
  let time: MemoryIntake['time'];
  let clock: MemoryIntake['clock'];
  let ingestOf: MemoryIntake['ingestOf'];
  beforeEach(() => {
    ({ world, kernel, time, clock, ingestOf } = memoryIntake());
  });

  it('loads its state with few reads, however many buckets were erased', async () => {
    let day = 0;
    const run = createRetention({
      ...kernel,
      clock: { ...clock, confirmedNow: async () => NOON + day * DAY, inSync: () => true },
      days: 30,
      auditDays: 365,
      context: kernel.systemContext,
      receivedBefore: async (_, audit) =>
        audit ? [] : Array.from({ length: 300 }, (_, n) => ({ ...bucket, producerId: `file-${day}-${n}` })),
    });
    while (++day <= 10) await run();
    let read = 0;
    const log: typeof kernel.log = {
      ...kernel.log,
      async read(...args) {
        const found = await kernel.log.read(...args);
        read += found.length;
        return found;
      },
    };
    const { state, revision } = await createAggregateStore(log, kernel.decryptEvent).load(
      retentionAggregate,
      RETENTION_STREAM,
    );
    expect(revision).to.equal(3009);
    expect(state).to.deep.equal((await kernel.aggregates.load(retentionAggregate, RETENTION_STREAM)).state);
    expect(read).to.be.at.most(1000);
  });

  const bucket = { producerId: 'api', day: '20260301', audit: false };

  it('expires whole days by the confirmed time only, and queries which buckets end', async () => {
    time.now = NOON + 400 * DAY;
    let confirmed: number | undefined;
    const queries: [string, boolean][] = [];
    const run = createRetention({
      ...kernel,
      clock: { ...clock, confirmedNow: async () => confirmed, inSync: () => true },
      days: 30,
      auditDays: 365,
      context: kernel.systemContext,
      async receivedBefore(day, audit) {
        queries.push([day, audit]);
        return audit ? [] : [bucket];
      },
    });
    await run();
    expect(world.all).to.have.length(0);
    confirmed = NOON + 31 * DAY;
    await run();
    await run();
    const facts = (await kernel.log.read(RETENTION_STREAM)) as readonly RecordedEvent[];
    expect(facts.map(({ type, data }) => [type, data])).to.deep.equal([
      ['RecordsExpired', { before: Date.UTC(2026, 2, 2), auditBefore: Date.UTC(2025, 3, 1) }],
      ['BatchesErased', bucket],
    ]);
    expect(queries[0]).to.deep.equal(['20260302', false]);
    expect(queries[1]).to.deep.equal(['20250401', true]);
    confirmed = DAY;
    await run();
    expect(queries.at(-1)).to.deep.equal(['19700101', true]);
  });

  it('destroys the key of an expired bucket and deletes its streams, idempotently', async () => {
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
    for (const _ of [1, 2]) await reaction.on.BatchesErased({ data: bucket } as never);
    expect(await kernel.vault.seal(bucketSubject(bucket), {})).to.equal(undefined);
    expect(await kernel.log.read(batchStream(bucket, NOON))).to.equal('deleted');
    expect(await kernel.log.read(batchStream(bucket, NOON + 3_600_000))).to.equal('missing');
    expect(await kernel.log.read(requestStream('request-1', false))).to.equal('deleted');
    expect(await kernel.log.read(batchStream({ ...bucket, audit: true }, NOON))).to.have.length(1);
  });

  it('deletes request streams with bounded concurrency, each once', async () => {
    const names = Array.from({ length: 70 }, (_, n) => requestStream(`request-${n}`, false));
    const ended: string[] = [];
    let [running, maxRunning] = [0, 0];
    const reaction = eraseReaction({
      ...kernel,
      log: {
        ...kernel.log,
        async tombstone(stream) {
          maxRunning = Math.max(maxRunning, ++running);
          await new Promise((resolve) => setImmediate(resolve));
          running--;
          ended.push(stream);
        },
      },
      async *requestStreams() {
        yield* names;
      },
    });
    await reaction.on.BatchesErased({ data: bucket } as never);
    expect(ended).to.deep.equal(names);
    expect(maxRunning).to.equal(32);
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
      rebuild: (begun, onProgress) =>
        new Promise((resolve, reject) => {
          it.builds++;
          begun();
          onProgress(7, 30n, 40n);
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

  it('reports its progress and its result', async () => {
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

  it('is rejected while another one runs on any node, and reports the running one', async () => {
    const { it, reindex } = fixture();
    const { id, done } = taken(await reindex.start(context()));
    expect(await reindex.start(context())).to.deep.include(RUNNING);
    expect(await reindex.progress()).to.include({ id, state: 'running' });
    it.finish();
    await done;
    const other = fixture({ underWay: async () => ({ position: 3n, until: 9n }) });
    expect(await other.reindex.start(context())).to.deep.include(RUNNING);
    expect(await other.reindex.progress()).to.deep.equal({ state: 'running', position: '3', until: '9' });
    const refused = fixture({ rebuild: () => Promise.reject(ELSEWHERE) });
    expect(await refused.reindex.start(context())).to.deep.include(RUNNING);
    expect(await refused.reindex.progress()).to.equal(undefined);
  });

  it('is started once by a repeated command, on any node', async () => {
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

  it('reports a failure, and can be started again by the same command', async () => {
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

  it('can be started again by the same command after its process died and no other node runs it', async () => {
    const how = context('reindex-1', 'body');
    await fixture().reindex.start(how);
    let other: { readonly position: bigint; readonly until: bigint } | undefined = {
      position: 3n,
      until: 9n,
    };
    const { it, reindex } = fixture({ underWay: async () => other });
    expect(await reindex.start(how)).to.deep.include(RUNNING);
    other = undefined;
    expect(await reindex.progress()).to.equal(undefined);
    const { done } = taken(await reindex.start(how));
    it.finish();
    await done;
    expect([it.builds, (await reindex.progress())?.state]).to.deep.equal([1, 'done']);
  });

  it('leaves no trace if it could not be started', async () => {
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
