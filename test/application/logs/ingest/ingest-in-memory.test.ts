/** Ingest of records into a log in memory: receipts, limits and failures. */
import { expect } from 'chai';
import type { Records } from '../../../../application/logs/ingest/ingest-records.js';
import { type RecordedEvent, UnavailableError, UndecryptableError } from '../../../../application/ports/index.js';
import { isRejection } from '../../../../domain/shared/decider.js';
import { recordText } from '../../../support/log-node.js';
import { failure, lines, type MemoryIntake, memoryIntake, NOON, taken } from '../../../support/memory-ingest.js';
import { context } from '../../../support/toy-service.js';

describe('in memory, log ingest', () => {
  let world: MemoryIntake['world'];
  let kernel: MemoryIntake['kernel'];
  let ingestOf: MemoryIntake['ingestOf'];
  let stored: MemoryIntake['stored'];
  beforeEach(() => {
    ({ world, kernel, ingestOf, stored } = memoryIntake());
  });

  it('reports accepted and rejected records by line', async () => {
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
    expect(ingest.reported.map(([, events]) => events)).to.deep.equal([1, 1]);
    expect(ingest.waits).to.deep.equal([['logs.records', ingested.position]]);
  });

  it('records service, release and command id of each batch', async () => {
    const how = context();
    taken(await ingestOf().post(lines({ message: 'a' }), 'lines', 'api', how));
    const [batch] = (await kernel.log.read('logs.batch-api-2026-03-01-12')) as readonly RecordedEvent[];
    expect(batch!.metadata).to.deep.include({ service: 'logs', release: 'test', commandId: how.commandId });
  });

  it('reports records that the index does not show in time as not visible', async () => {
    const lagging = ingestOf({}, undefined, false);
    const { ingested } = taken(await lagging.post(lines({ message: 'a' }), 'lines', 'api', context()));
    expect(ingested).to.deep.equal({ receivedAt: NOON, position: await kernel.head(), visible: false });
  });

  it('stores nothing under a corrupt key, and continues with the next producer', async () => {
    const ingest = ingestOf();
    const { create } = world.keys;
    world.keys.create = async (subject, fresh) => {
      if (subject === 'logs.batch-api-20260301') throw new UndecryptableError(subject, 'damaged');
      return create(subject, fresh);
    };
    const text = lines({ message: 'a' });
    for (const request of [context(), { ...context(), fingerprint: 'print' }])
      expect(await failure(ingest.post(text, 'lines', 'api', request))).to.be.instanceOf(UnavailableError);
    expect(ingest.totals()).to.deep.equal({ accepted: 0, rejected: 0, waitingBytes: 0 });
    expect(kernel.unopened()).to.equal(1);
    taken(await ingest.post(text, 'lines', 'other', context()));
    expect(await stored()).to.deep.equal(['a']);
  });

  it('rejects invalid JSON, too many records, and requests beyond its memory budget', async () => {
    const ingest = ingestOf({}, 1000);
    expect(await ingest.post('{', 'json', 'api', context())).to.include({
      rejected: 'logs/not-json',
      kind: 'invalid',
    });
    const many = '{}\n'.repeat(50_001);
    expect(await ingest.post(many, 'lines', 'api', context())).to.include({
      rejected: 'logs/too-many-records',
      kind: 'too-large',
    });
    const free = ingest.budget.used();
    const body = ingest.bodies.reserve('ada');
    expect(body.acquire(800)).to.equal(undefined);
    expect(ingest.totals().waitingBytes).to.equal(800);
    expect(await ingest.post(lines({ a: 1 }, { a: 2 }), 'lines', 'api', context())).to.deep.include({
      rejected: 'logs/queue-full',
      kind: 'limit',
      retryAfterMs: 1000,
    });
    expect(isRejection(await ingest.post(lines({ a: 1 }), 'lines', 'api', context()))).to.equal(false);
    body.release();
    expect(ingest.budget.used()).to.equal(free);
    expect(ingest.totals()).to.include({ accepted: 1, rejected: 0 });
  });

  it('stores nothing for an aborted request, and frees its memory on failure', async () => {
    const ingest = ingestOf();
    const aborted = await ingest.post(lines({ a: 1 }), 'lines', 'api', context(), AbortSignal.abort());
    expect(aborted).to.include({ rejected: 'logs/request-abandoned' });
    expect(world.all).to.have.length(0);
    const broken = ingestOf({ append: () => Promise.reject(new Error('broken')) });
    expect(String(await failure(broken.post(lines({ a: 1 }), 'lines', 'api', context())))).to.include('broken');
    expect(broken.totals()).to.deep.equal({ accepted: 0, rejected: 0, waitingBytes: 0 });
  });

  it('stores records of a file with the offset read so far', async () => {
    const ingest = ingestOf();
    const records: Records = {
      producerId: 'host',
      records: [recordText({ message: 'a' }), recordText({ message: 'b' })],
      rejected: 1,
      source: { id: 'file-1', offset: 99 },
    };
    expect(taken(await ingest.take(records, context()))).to.deep.include({ receivedAt: NOON, visible: true });
    expect(ingest.totals()).to.deep.equal({ accepted: 2, rejected: 1, waitingBytes: 0 });
    const data = world.all.at(-1)!.data as { source?: object };
    expect(data.source).to.deep.equal({ id: 'file-1', offset: 99 });
    const full = ingestOf({}, 100);
    full.bodies.reserve('ada').acquire(80);
    expect(await full.take(records, context())).to.include({ rejected: 'logs/queue-full' });
  });
});
