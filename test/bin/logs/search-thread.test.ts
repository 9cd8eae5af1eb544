/** The search worker thread: answers like the index itself, at lower priority than the main thread. */
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { eventually } from '@annals/engines/testing/condition.js';
import { type Servers, silentLogger, startServers } from '@annals/engines/testing/engines.js';
import { collect } from '@annals/engines/testing/eventstore-client.js';
import { expect } from 'chai';
import { Abandoned, TimedOut } from '../../../application/logs/query/query-budget.js';
import { createSearcher, type Searcher } from '../../../application/logs/query/searcher.js';
import { type Cache, UnavailableError } from '../../../application/ports/index.js';
import { startSearcher } from '../../../bin/services/logs/searching.js';
import { EVERYTHING } from '../../../domain/logs/filter.js';
import { createReceipts } from '../../../projections/logs/index/ingest-receipts.js';
import { records } from '../../../projections/logs/index/records.js';
import { type LogsNode, startLogsNode } from '../../support/log-node.js';

describe('the search thread', function () {
  this.timeout(60_000);
  let servers: Servers;
  let node: LogsNode;
  let searcher: ReturnType<typeof startSearcher>;
  const caches: Cache[] = [];
  const signal = new AbortController().signal;

  const start = (budgetMs: number) =>
    startSearcher({
      kernel: node.kernel,
      serving: () => ({
        build: node.kernel.served.collection(records.name),
        version: node.kernel.projectionProgress.position('logs.records'),
      }),
      budgetMs,
      onCache: (cache) => caches.push(cache),
      logger: silentLogger,
    });

  before(async () => {
    servers = await startServers();
    node = await startLogsNode(servers, `test_${randomUUID().slice(0, 8)}`);
    searcher = start(30_000);
    const sent = Array.from({ length: 3000 }, (_, n) => ({ n, kind: n % 7, message: `record ${n % 50}` }));
    await node.ingest.post(JSON.stringify(sent), 'json', 'api', node.kernel.systemContext('test'));
    await eventually(async () => (await searcher.aggregate(byKind)).total === sent.length);
  });
  after(async () => {
    await searcher?.close();
    await node?.stop();
    await servers?.stop();
  });

  const page = async (requests: Searcher, words: readonly string[]) => {
    const json = await requests.page({ filter: { ...EVERYTHING, words }, order: 'asc', limit: 40 }, signal);
    return JSON.parse(Buffer.from(json).toString());
  };
  const byKind = { filter: EVERYTHING, grouping: { by: 'field' as const, path: 'kind' }, limit: 10 };

  it('answers like the index itself', async () => {
    const near = createSearcher({ index: node.index, clock: Date, budgetMs: 30_000 });
    for (const words of [[], ['record', '7'], ['nothing']])
      expect(await page(searcher, words)).to.deep.equal(await page(near, words));
    const counts = await searcher.aggregate(byKind, signal);
    expect(counts).to.deep.equal(await near.aggregate(byKind));
    expect(counts.total).to.equal(3000);
    expect(await searcher.lastReceived()).to.equal(await near.lastReceived());
  });

  it('reports the sizes of its caches', async () => {
    await page(searcher, ['7']);
    await eventually(() => caches.some(({ name, bytes }) => name === 'logs.sections' && bytes() > 0));
    expect(new Set(caches.map(({ name }) => name)).size).to.equal(caches.length);
  });

  it('stops on abort and on timeout', async () => {
    const gone = AbortSignal.abort();
    expect(await searcher.aggregate(byKind, gone).catch((error) => error)).to.be.instanceOf(Abandoned);
    const hasty = start(-1);
    expect(await hasty.aggregate(byKind, signal).catch((error) => error)).to.be.instanceOf(TimedOut);
    await hasty.close();
  });

  it('yields the processor to the main thread', async function () {
    if (process.platform !== 'linux') this.skip();
    await page(searcher, []);
    const niceness = (task: string) =>
      Number(readFileSync(`/proc/self/task/${task}/stat`, 'utf8').split(') ')[1]?.split(' ')[16]);
    expect(readdirSync('/proc/self/task').map(niceness)).to.include(5);
    expect(niceness(String(process.pid))).to.equal(0);
  });

  it('finds nothing in a build that was dropped before this node noticed', async () => {
    const { kernel } = node;
    const build = await kernel.lifecycle.rebuild(records, { signal });
    // The collection is not created again.
    await eventually(() => kernel.served.collection(records.name) === build);
    await kernel.builds.drop(build);
    const left = startSearcher({
      kernel,
      serving: () => ({ build, version: 0 }),
      budgetMs: 30_000,
      onCache: () => {},
      logger: silentLogger,
    });
    const receipts = createReceipts(kernel.mongo.models, () => build);
    const keeping = { producerId: 'api', day: '20260101', audit: false };
    const requests: readonly Promise<unknown>[] = [
      left.page({ filter: EVERYTHING, order: 'asc', limit: 1 }, signal),
      left.aggregate(byKind),
      left.lastReceived(),
      receipts.offset('a file'),
      receipts.receivedBefore('20990101', false),
      collect(receipts.requestStreams(keeping)),
    ];
    for (const each of await Promise.allSettled(requests))
      expect(each).to.have.property('reason').that.is.instanceOf(UnavailableError);
    await left.close();
  });
});
