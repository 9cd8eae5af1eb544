/** Read models against the log: in step while it grows, equal to their rebuild, one projector among many nodes. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { Kernel } from '../../bin/kernel.js';
import { type Projector, runProjector } from '../../projections/subscription.js';
import { quiet, type Servers, startServers } from '../support/engines.js';
import { box, contents, context, startToys } from '../support/toys.js';

interface BoxRow {
  readonly _id: string;
  readonly count: number;
  readonly toys: readonly { readonly toy: string; readonly note: string }[];
}

describe('a projection', () => {
  let servers: Servers;
  let kernel: Kernel;
  let database: string;
  let stop: AbortController;
  let running: Projector[];

  const project = (each: Kernel) => {
    const { follow, builds, checkpoints, leases, served, settled } = each;
    const ports = {
      follow,
      builds,
      checkpoints,
      leases,
      served,
      reached: settled.reached,
      untilWanted: settled.untilWanted,
    };
    const projector = runProjector({
      service: 'toys',
      projections: [contents],
      ...ports,
      logger: quiet,
      signal: stop.signal,
    });
    running.push(projector);
    return projector;
  };
  const open = (each: Kernel) => each.lifecycle.open([contents], each.served, { signal: stop.signal });
  const put = async (id: string, toy: string) => {
    await kernel.vault.create(`toys.box-${id}`);
    await kernel.handle(box, `toys.box-${id}`, { box: id, toy, note: `note on ${toy}` }, context());
  };
  const rowOf = async (id: string, each = kernel) => {
    expect(await each.settled.wait('toys', kernel.settled.latest([`toys.box-${id}`]))).to.equal(true);
    const [row] = await each.rows.find<BoxRow>('toys.contents', { filter: { _id: id } });
    return row;
  };

  before(async () => {
    servers = await startServers();
  });
  after(() => servers?.stop());

  beforeEach(async () => {
    database = `test_${randomUUID().slice(0, 8)}`;
    stop = new AbortController();
    running = [];
    kernel = await startToys(servers, database);
    await open(kernel);
  });
  afterEach(async () => {
    stop.abort();
    await Promise.all(running.map((projector) => projector.stopped));
    await kernel.mongo.models.dropDatabase();
    await kernel.close();
  });

  it('shows a caller what it was told', async () => {
    project(kernel);
    const id = randomUUID();
    for (let index = 1; index <= 20; index++) {
      await put(id, `toy-${index}`);
      expect((await rowOf(id))?.count).to.equal(index);
    }
  });

  it('stores secrets sealed', async () => {
    project(kernel);
    const id = randomUUID();
    await put(id, 'bear');
    const note = (await rowOf(id))?.toys[0]?.note ?? '';
    expect(note).to.be.a('string').and.not.contain('note on bear');
    expect(await kernel.vault.open(`toys.box-${id}`, note)).to.deep.equal({ note: 'note on bear' });
  });

  it('does nothing with an event that comes again', async () => {
    const id = randomUUID();
    await put(id, 'bear');
    await put(id, 'car');
    project(kernel);
    await rowOf(id);
    stop.abort();
    await Promise.all(running.map((projector) => projector.stopped));
    const collection = kernel.served.collection('toys.contents') ?? '';
    await kernel.checkpoints.forget(collection);
    stop = new AbortController();
    project(kernel);
    await put(id, 'kite');
    expect(await rowOf(id)).to.deep.include({ count: 3 });
  });

  it('is rebuilt while writing goes on, and no read sees less than it was told', async () => {
    project(kernel);
    const id = randomUUID();
    const before = kernel.served.collection('toys.contents');
    let told = 0;
    let writing = true;
    const writer = (async () => {
      while (writing) {
        await put(id, `toy-${told}`);
        told++;
      }
    })();
    const reader = (async () => {
      while (writing) {
        const least = told;
        const row = least > 0 ? await rowOf(id) : undefined;
        expect(row?.count ?? 0).to.be.at.least(least);
        await delay(1);
      }
    })();
    await kernel.lifecycle.rebuild(contents, { signal: stop.signal });
    while (kernel.served.collection('toys.contents') === before) await delay(10);
    const told2 = told;
    while (told < told2 + 20) await delay(5);
    writing = false;
    await Promise.all([writer, reader]);
    expect((await rowOf(id))?.count).to.equal(told);
    expect(await kernel.lifecycle.check(contents, { signal: stop.signal })).to.deep.equal([]);
  });

  it('is found wanting by a check when a row was tampered with', async () => {
    project(kernel);
    const [one, two] = [randomUUID(), randomUUID()];
    await put(one, 'bear');
    await put(two, 'bear');
    await rowOf(two);
    const rows = kernel.mongo.models.collection<{ _id: string }>(
      kernel.served.collection('toys.contents') ?? '',
    );
    await rows.updateOne({ _id: one }, { $set: { count: 7 } });
    await rows.deleteOne({ _id: two });
    const found = await kernel.lifecycle.check(contents, { signal: stop.signal });
    expect(found).to.have.deep.members([
      { id: one, problem: 'different' },
      { id: two, problem: 'missing' },
    ]);
  });

  it('goes on with a build that was stopped', async () => {
    for (let index = 0; index < 30; index++) await put(`box-${index}-${database}`, 'bear');
    const cut = new AbortController();
    const stopped = kernel.lifecycle.rebuild(contents, { signal: cut.signal, onProgress: () => cut.abort() });
    expect(await stopped.catch(() => 'stopped')).to.equal('stopped');
    const left = (await kernel.builds.list('toys_contents_v1_')).filter(
      (name) => name !== kernel.served.collection('toys.contents'),
    );
    const collection = await kernel.lifecycle.rebuild(contents, { signal: stop.signal });
    expect(left).to.deep.equal([collection]);
  });

  it('has one projector among many nodes, and another takes over', async () => {
    const second = await startToys(servers, database);
    await open(second);
    const first = new AbortController();
    const { follow, builds, checkpoints, leases, served, settled } = kernel;
    const ports = {
      follow,
      builds,
      checkpoints,
      leases,
      served,
      reached: settled.reached,
      untilWanted: settled.untilWanted,
    };
    const leader = runProjector({
      service: 'toys',
      projections: [contents],
      ...ports,
      logger: quiet,
      signal: first.signal,
    });
    while (leader.status().status !== 'live') await delay(10);
    const follower = project(second);
    await delay(0);
    expect(follower.status().status).to.equal('standby');
    const id = randomUUID();
    await put(id, 'bear');
    expect((await rowOf(id, second))?.count).to.equal(1);
    first.abort();
    await leader.stopped;
    while (follower.status().status !== 'live') await delay(10);
    await put(id, 'car');
    expect((await rowOf(id, second))?.count).to.equal(2);
    stop.abort();
    await follower.stopped;
    await second.close();
  });
});
