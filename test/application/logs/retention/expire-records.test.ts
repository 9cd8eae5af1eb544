/** Expired records disappear from queries, from the log and from every rebuild. */
import { randomUUID } from 'node:crypto';
import { type Servers, silentLogger, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { asEvent } from '../../../../application/command/event-envelope.js';
import { createGroupCommit } from '../../../../application/command/group-commit.js';
import { createBudget } from '../../../../application/concurrency/limiters.js';
import { createIngest, INGEST_BYTES } from '../../../../application/logs/ingest/ingest-records.js';
import { createRetention, eraseReaction } from '../../../../application/logs/retention/expire-records.js';
import { UnavailableError } from '../../../../application/ports/index.js';
import { catalog } from '../../../../domain/logs/catalog.js';
import { RETENTION_STREAM, retention } from '../../../../domain/logs/retention.js';
import { bucketSubject, requestStream } from '../../../../domain/logs/retention-bucket.js';
import { records as model } from '../../../../projections/logs/index/records.js';
import { foundIn, type LogsNode, startLogsNode } from '../../../support/log-node.js';

const DAY = 86_400_000;
const START = Date.UTC(2026, 2, 1, 12);

describe('expired records', () => {
  let servers: Servers;
  let node: LogsNode;
  let now = START;
  const clock = { now: () => now, confirmedNow: async () => now, inSync: () => true };
  const { signal } = new AbortController();

  before(async () => {
    servers = await startServers();
    node = await startLogsNode(servers, `test_${randomUUID().slice(0, 8)}`);
  });
  after(async () => {
    await node?.stop();
    await servers?.stop();
  });

  const startIngest = () => {
    const { log, vault, aggregates, projectionProgress, release, appended } = node.kernel;
    const appender = createGroupCommit({ log, logger: silentLogger, appended });
    const budget = createBudget('intake', INGEST_BYTES);
    return createIngest({ log, appender, vault, aggregates, projectionProgress, clock, release, budget, appended });
  };
  const put = async (records: readonly object[], more = {}, producerId = 'api', into = startIngest()) => {
    const context = { ...node.kernel.systemContext('test'), ...more };
    return into.post(JSON.stringify(records), 'json', producerId, context);
  };
  const names = async () => {
    const filter = { fields: [], words: [] };
    return (await foundIn(node.index, filter, 'asc')).map(({ message }) => message);
  };

  it('disappear by instant and by receipt day, with a longer retention for audit records', async () => {
    const { kernel, receipts } = node;
    const { handle, vault, log, projectionProgress, systemContext } = kernel;
    const at = (message: string, days: number, more = {}) => ({ message, time: START + days * DAY, ...more });
    await put([at('old', 0), at('old audit', 0, { audit: true }), at('of the future', 100)]);
    const key = { commandId: 'a-key', fingerprint: 'a-body' };
    const keyedRecords = [at('old keyed', 0), at('old audit keyed', 0, { audit: true })];
    await put(keyedRecords, key);
    now = START + 20 * DAY;
    await put([at('young', 20), at('written late', 1)]);
    // Instants far from their receipt share one collection.
    await put([at('of an age long gone', -500)], {}, 'ancients');
    await put([at('of an age to come', 900)], {}, 'prophets');
    now = START + 31 * DAY;
    const ports = { handle, clock, days: 30, auditDays: 365, context: systemContext };
    const run = createRetention({ ...ports, receivedBefore: receipts.receivedBefore });
    await run();
    await run();
    const facts = await log.read(RETENTION_STREAM);
    if (typeof facts === 'string') throw new Error(facts);
    expect(facts.map(({ type }) => type)).to.deep.equal(['RecordsExpired', 'BatchesErased']);
    await projectionProgress.wait('logs.records', facts.at(-1)?.position ?? 0n);
    const retained = ['old audit', 'old audit keyed', 'written late', 'young', 'of an age to come'];
    // Of March 1 only audit records are retained; "written late" is a record of March 2.
    expect(await names()).to.deep.equal(retained);

    const bucket = { producerId: 'api', day: '20260301', audit: false };
    const erase = eraseReaction({ vault, log, requestStreams: receipts.requestStreams }).on.BatchesErased;
    for (const _ of [1, 2]) await erase(asEvent(facts[1]!));
    expect(await vault.seal(bucketSubject(bucket), { a: 1 })).to.equal(undefined);
    expect(await log.read('logs.batch-api-2026-03-01-12')).to.equal('deleted');
    expect(await log.read('logs.audit-api-2026-03-01-12')).to.have.length(1);
    expect(await log.read(requestStream('a-key', false))).to.equal('deleted');
    expect(await log.read(requestStream('a-key', true))).to.have.length(1);
    expect(await put(keyedRecords, key)).to.deep.include({ rejected: 'logs/request-expired', kind: 'gone' });

    const build = await kernel.lifecycle.rebuild(model, { signal });
    while (kernel.served.collection(model.name) !== build) await new Promise(setImmediate);
    expect(await names()).to.deep.equal(retained);
    expect(await kernel.lifecycle.check(model, { signal })).to.deep.equal([]);
  });

  it('are followed by new records of the same day after a clock that was ahead', async () => {
    const { lifecycle, projectionProgress } = node.kernel;
    const ingest = startIngest();
    now = START;
    const again = () => put([{ message: 'back in time' }], {}, 'api', ingest).catch((error) => error);
    expect(await again()).to.be.instanceOf(UnavailableError);
    const { receipt, ingested } = await again();
    expect(receipt.accepted).to.equal(1);
    while (!(await projectionProgress.wait('logs.records', ingested.position)));
    expect(await names()).to.include('back in time');
    expect(await lifecycle.check(model, { signal })).to.deep.equal([]);
  });

  it('are erased for thousands of producers, such as one per tailed file', async () => {
    const { handle, aggregates, systemContext } = node.kernel;
    now = START + 100 * DAY;
    const many = Array.from({ length: 4000 }, (_, n) => ({
      producerId: `job-${n}`,
      day: '20260401',
      audit: false,
    }));
    await createRetention({
      handle,
      clock,
      days: 30,
      auditDays: 365,
      receivedBefore: async (_, audit) => (audit ? [] : many),
      context: systemContext,
    })();
    const { state, revision } = await aggregates.reload({ catalog, decider: retention }, RETENTION_STREAM);
    expect(state.before).to.equal(START - DAY / 2 + 70 * DAY);
    expect(revision).to.be.greaterThan(4000);
  });
});
