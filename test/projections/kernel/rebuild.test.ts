/** Builds over restarts and versions: which are kept, dropped or completed before a node is ready. */
import { randomUUID } from 'node:crypto';
import { eventually } from '@annals/engines/testing/condition.js';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { Long } from 'mongodb';
import type { Kernel } from '../../../bin/node/kernel.js';
import type { Projector } from '../../../projections/kernel/projector.js';
import { project } from '../../support/test-kernel.js';
import { box, contents, context, startToys } from '../../support/toy-service.js';

/** Large, so that several of them arrive in several batches. */
const LARGE = 'bear'.repeat(10_000);

describe('builds of a projection', function () {
  this.timeout(120_000);
  let servers: Servers;
  let database: string;
  let kernel: Kernel;
  let others: Kernel[];
  let stop: AbortController;
  let running: Projector[];

  before(async () => {
    servers = await startServers();
  });
  after(() => servers?.stop());
  beforeEach(async () => {
    database = `test_${randomUUID().slice(0, 8)}`;
    [others, running, stop] = [[], [], new AbortController()];
    kernel = await startToys(servers, database);
    await kernel.lifecycle.ensureActive([contents], kernel.served, stop);
  });
  afterEach(async () => {
    stop.abort();
    await Promise.all(running.map(({ stopped }) => stopped));
    await kernel.mongo.models.dropDatabase();
    await Promise.all([kernel, ...others].map((each) => each.close()));
  });

  const startProjector = (each = kernel) => {
    const projector = project(each, [contents], stop.signal);
    running.push(projector);
    return projector;
  };
  const put = async (count: number, toy = 'bear') => {
    const boxes = Array.from({ length: count }, () => randomUUID());
    await Promise.all(
      boxes.map(async (id) => {
        await kernel.vault.create(`toys.box-${id}`);
        await kernel.handle(box, `toys.box-${id}`, { box: id, toy }, context());
      }),
    );
    return boxes;
  };
  const collections = () => kernel.builds.list('toys_contents_v');
  const rows = async (collection: string, boxes: readonly string[]) => {
    const found = kernel.mongo.models.collection<{ _id: string }>(collection);
    return found.countDocuments({ _id: { $in: [...boxes] } });
  };

  it('are kept while unfinished, and dropped when superseded', async () => {
    await put(20, LARGE);
    const first = kernel.served.collection(contents.name) ?? '';
    const cut = new AbortController();
    const stopped = kernel.lifecycle.rebuild(contents, { signal: cut.signal, onProgress: () => cut.abort() });
    expect(await stopped.catch(() => 'stopped')).to.equal('stopped');
    const [unfinished] = (await collections()).filter((name) => name !== first);
    expect(unfinished).to.be.a('string');

    const projector = startProjector();
    await eventually(() => projector.status().status === 'live');
    expect(await collections()).to.have.members([first, unfinished!]);

    expect(await kernel.lifecycle.rebuild(contents, stop)).to.equal(unfinished);
    await eventually(() => kernel.served.collection(contents.name) === unfinished);
    stop.abort();
    await projector.stopped;
    stop = new AbortController();
    const next = startProjector();
    await eventually(() => next.status().status === 'live');
    expect(await collections()).to.deep.equal([unfinished]);
  });

  it('are kept while another process builds them, even without a checkpoint', async () => {
    const lease = await kernel.leases.acquire(`build:${contents.name}`);
    const begun = `toys_contents_v1_${'z'.repeat(9)}`;
    await kernel.builds.open(contents, begun, { assertHeld() {} });
    const projector = startProjector();
    await eventually(() => projector.status().status === 'live');
    expect(await collections()).to.include(begun);
    await lease?.release();
  });

  it('are dropped if ahead of the log and kept otherwise, if they were never active', async () => {
    const [within, ahead] = ['y', 'z'].map((run) => `toys_contents_v1_${run.repeat(9)}`) as [string, string];
    for (const each of [within, ahead]) await kernel.builds.open(contents, each, { assertHeld() {} });
    const head = await kernel.head();
    await kernel.checkpoints.advance(
      { [within]: head, [ahead]: head + 1_000_000n },
      { name: 'projector:toys', fence: 0n },
    );
    const projector = startProjector();
    await eventually(() => projector.status().status === 'live');
    const served = kernel.served.collection(contents.name) ?? '';
    expect(await collections()).to.have.members([served, within]);
    expect(await kernel.checkpoints.read(ahead)).to.equal(undefined);
  });

  it('are replaced if ahead of the log, instead of resumed', async () => {
    const boxes = await put(5);
    const served = kernel.served.collection(contents.name) ?? '';
    const begun = `toys_contents_v1_${'z'.repeat(9)}`;
    await kernel.builds.open(contents, begun, { assertHeld() {} });
    const ahead = (await kernel.head()) + 1_000_000n;
    const aheadRow = { _id: 'ahead', _at: Long.fromBigInt(ahead) };
    for (const each of [served, begun]) await kernel.mongo.models.collection<typeof aheadRow>(each).insertOne(aheadRow);
    await kernel.checkpoints.advance({ [served]: ahead, [begun]: ahead }, { name: 'projector:toys', fence: 0n });
    const warnings: string[] = [];
    const onAhead = ({ name }: { readonly name: string }) => warnings.push(name);
    const again = await startToys(servers, database);
    others.push(again);
    await again.lifecycle.ensureActive([contents], again.served, { signal: stop.signal, onAhead });
    const collection = again.served.collection(contents.name) ?? '';
    expect(warnings).to.deep.equal([contents.name]);
    expect(collection).not.to.be.oneOf([served, begun]);
    expect(await rows(collection, boxes)).to.equal(boxes.length);
  });

  it('of an older version are replaced before a node is ready, and those of the current version are not', async () => {
    const boxes = await put(20);
    const served = kernel.served.collection(contents.name);
    const next = { ...contents, version: 2 };
    const newer = await startToys(servers, database, [next]);
    others.push(newer);
    await newer.lifecycle.ensureActive([next], newer.served, stop);
    const collection = newer.served.collection(contents.name) ?? '';
    expect(collection).to.match(/^toys_contents_v2_/);
    // No projector runs, so these rows existed when the node was ready.
    expect(await rows(collection, boxes)).to.equal(boxes.length);

    const same = await startToys(servers, database, [next]);
    others.push(same);
    await same.lifecycle.ensureActive([next], same.served, stop);
    expect(same.served.collection(contents.name)).to.equal(collection);
    expect(collection).not.to.equal(served);
  });

  it('are awaited by a node that starts while another one builds them', async () => {
    const boxes = await put(20);
    const next = { ...contents, version: 2 };
    const [maker, waiter] = await Promise.all([
      startToys(servers, database, [next]),
      startToys(servers, database, [next]),
    ]);
    others.push(maker, waiter);
    let waits = () => {};
    const waiting = new Promise<void>((resolve) => {
      waits = resolve;
    });
    const lease = await maker.leases.acquire(`build:${contents.name}`);
    const acquire = waiter.leases.acquire;
    Object.assign(waiter.leases, {
      acquire: (name: string) =>
        acquire(name).then((acquired) => {
          if (!acquired) waits();
          return acquired;
        }),
    });
    const opening = waiter.lifecycle.ensureActive([next], waiter.served, stop);
    await Promise.race([waiting, opening]);
    await lease?.release();
    await Promise.all([opening, maker.lifecycle.ensureActive([next], maker.served, stop)]);
    const collection = waiter.served.collection(contents.name) ?? '';
    expect(collection).to.match(/^toys_contents_v2_/);
    expect(await rows(collection, boxes)).to.equal(boxes.length);
    expect(maker.served.collection(contents.name)).to.equal(collection);
  });

  it('are at most two without a running node, after any number of rebuilds', async () => {
    await put(5);
    for (const _ of [1, 2, 3]) {
      const before = await collections();
      const made = await kernel.lifecycle.rebuild(contents, stop);
      expect(await collections()).to.have.members([...before.slice(-1), made]);
    }
  });

  it('are added to those that running nodes may still read', async () => {
    await put(1);
    const node = await kernel.leases.acquire('projector:toys');
    const made: string[] = [];
    for (const _ of [1, 2, 3]) made.push(await kernel.lifecycle.rebuild(contents, stop));
    expect(await collections()).to.have.members(made);
    await node?.release();
  });
});
