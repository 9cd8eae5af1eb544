/**
 * Idempotent ingest on several nodes, with lost answers and crashes: stored once, and answered like the first request.
 */
import { createHash, randomUUID } from 'node:crypto';
import { type Servers, silentLogger, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { createGroupCommit } from '../../../../application/command/group-commit.js';
import { createBudget } from '../../../../application/concurrency/limiters.js';
import { createIngest, INGEST_BYTES } from '../../../../application/logs/ingest/ingest-records.js';
import { type EventLog, UnavailableError } from '../../../../application/ports/index.js';
import { requestStream } from '../../../../domain/logs/retention-bucket.js';
import { foundIn, type LogsNode, startLogsNode } from '../../../support/log-node.js';

describe('an ingest request with an Idempotency-Key', () => {
  let servers: Servers;
  let nodes: readonly LogsNode[];
  let commandId: string;

  before(async () => {
    servers = await startServers();
    const database = `test_${randomUUID().slice(0, 8)}`;
    nodes = [await startLogsNode(servers, database), await startLogsNode(servers, database)];
  });
  after(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    await servers?.stop();
  });
  beforeEach(() => {
    commandId = randomUUID();
  });

  /** The ingest of a node, with its own clock and optionally a failing append. */
  function ingestOf(node: LogsNode, now: number, append?: EventLog['append']) {
    const { vault, aggregates, projectionProgress, release, appended } = node.kernel;
    const log = { ...node.kernel.log, ...(append && { append }) };
    const appender = createGroupCommit({ log, logger: silentLogger, appended });
    const budget = createBudget('intake', INGEST_BYTES);
    const clock = { now: () => now };
    return createIngest({ log, appender, vault, aggregates, projectionProgress, clock, release, budget, appended });
  }
  type Node = ReturnType<typeof ingestOf>;
  const [FIRST, SECOND] = [Date.UTC(2026, 10, 21, 9, 59), Date.UTC(2026, 10, 22)];

  const post = (ingest: Node, body: string) => {
    const fingerprint = createHash('sha256').update(body).digest('base64url');
    const context = { ...nodes[0]!.kernel.systemContext('test'), commandId, fingerprint };
    return ingest.post(body, 'lines', 'api', context);
  };
  const receipt = async (ingest: Node, body: string) => {
    const done = await post(ingest, body);
    if ('rejected' in done) throw new Error(done.rejected);
    return done.receipt;
  };
  const messages = async (run: string) => {
    const filter = { fields: [{ path: 'run', value: run }], words: [] };
    const found = await foundIn(nodes[0]!.index, filter, 'asc');
    return found.map(({ message }) => message).toSorted();
  };
  const lines = (...records: readonly object[]) =>
    records.map((each) => JSON.stringify({ run: commandId, ...each })).join('\n');

  it('is not stored if its client has disconnected', async () => {
    const context = { ...nodes[0]!.kernel.systemContext('test'), commandId };
    const ingest = ingestOf(nodes[0]!, FIRST);
    const aborted = await ingest.post(lines({ message: 'aborted' }), 'lines', 'api', context, AbortSignal.abort());
    expect(aborted).to.have.property('rejected');
    await receipt(ingest, lines({ message: 'in time' }));
    expect(await messages(commandId)).to.deep.equal(['in time']);
  });

  it('is stored once by concurrent requests to several nodes, and answered alike', async () => {
    const body = `${lines({ message: 'a' }, { message: 'b', audit: true })}\nno record`;
    const both = nodes.map((node, index) => ingestOf(node, index ? SECOND : FIRST));
    const receipts = await Promise.all([...both, ...both, ...both].map((ingest) => receipt(ingest, body)));
    for (const each of receipts) expect(each).to.deep.equal(receipts[0]);
    expect(receipts[0]).to.deep.include({ accepted: 2, rejected: 1 });
    expect(await messages(commandId)).to.deep.equal(['a', 'b']);
    expect(await receipt(both[1]!, body)).to.deep.equal(receipts[0]);
    expect(both.reduce((sum, ingest) => sum + ingest.totals().accepted, 0)).to.equal(2);
  });

  it('is rejected if the key was used for another body', async () => {
    const both = nodes.map((node) => ingestOf(node, FIRST));
    const bodies = [lines({ message: 'a' }), lines({ message: 'b', audit: true })];
    const done = await Promise.all(both.map((ingest, index) => post(ingest, bodies[index]!)));
    const refused = done.filter((each) => 'rejected' in each);
    expect(refused).to.have.length(1);
    expect(refused[0]).to.deep.include({ rejected: 'logs/idempotency-key-reused', kind: 'misused-key' });
    expect(await messages(commandId)).to.have.length(1);
  });

  it('is remembered even if it contained no valid record', async () => {
    const both = nodes.map((node, index) => ingestOf(node, index ? SECOND : FIRST));
    const first = await receipt(both[0]!, 'nonsense');
    expect(first).to.deep.include({ accepted: 0, rejected: 1 });
    expect(await receipt(both[1]!, 'nonsense')).to.deep.equal(first);
    expect(await post(both[1]!, lines({ message: 'other' }))).to.have.property('rejected');
    expect(await messages(commandId)).to.deep.equal([]);
  });

  it('is stored once if an answer of the log is lost', async () => {
    const [node] = nodes as [LogsNode];
    let calls = 0;
    const ingest = ingestOf(node, FIRST, async (...args) => {
      const outcome = await node.kernel.log.append(...args);
      if (calls++ === 0) throw new UnavailableError('answer lost');
      return outcome;
    });
    expect(await receipt(ingest, lines({ message: 'a' }))).to.deep.include({ accepted: 1 });
    expect(calls).to.equal(2);
    expect(await messages(commandId)).to.deep.equal(['a']);
  });

  it('is completed by a repetition after a crash', async () => {
    const text = 'x'.repeat(60_000);
    const records = Array.from({ length: 30 }, (_, n) => ({
      message: `m${100 + n}`,
      audit: n % 2 === 0,
      text,
    }));
    const expected = records.map(({ message }) => message);
    const [node, other] = nodes as [LogsNode, LogsNode];
    for (let appends = 1; appends <= 3; appends++) {
      commandId = randomUUID();
      const body = lines(...records);
      let remaining = appends;
      const crashing = ingestOf(node, FIRST, async (...args) => {
        if (remaining-- <= 0) throw new Error('killed');
        return node.kernel.log.append(...args);
      });
      expect(await post(crashing, body).catch(({ message }) => message)).to.equal('killed');
      const again = await Promise.all([receipt(ingestOf(other, SECOND), body), receipt(ingestOf(node, SECOND), body)]);
      for (const each of again)
        expect(each).to.deep.include({ accepted: 30, receivedAt: new Date(FIRST).toISOString() });
      expect(await messages(commandId), `after ${appends} appends`).to.deep.equal(expected);
      const stream = await node.kernel.log.read(requestStream(commandId, true));
      expect(stream).to.be.an('array').with.length(2);
    }
  });

  it('fails as unavailable during an outage of the log', async () => {
    const away: EventLog['append'] = async () => {
      throw new UnavailableError('away');
    };
    const [node] = nodes as [LogsNode];
    const failed = await post(ingestOf(node, FIRST, away), lines({ message: 'a' })).catch((error) => error);
    expect(failed).to.be.instanceOf(UnavailableError);
    expect(await receipt(ingestOf(node, SECOND), lines({ message: 'a' }))).to.deep.include({ accepted: 1 });
  });
});
