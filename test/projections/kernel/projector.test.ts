/** Projections on the servers: read-your-writes, rebuilds equal to live rows, and one projector among nodes. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '@annals/engines/testing/condition.js';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { Long } from 'mongodb';
import { isEvent } from '../../../application/command/event-envelope.js';
import { UnavailableError } from '../../../application/ports/index.js';
import type { Kernel } from '../../../bin/node/kernel.js';
import type { ProjectionSwitched } from '../../../domain/shared/active-projection.js';
import { collectionName } from '../../../projections/kernel/projection.js';
import type { Projector } from '../../../projections/kernel/projector.js';
import { project } from '../../support/test-kernel.js';
import { box, contents, context, startToys } from '../../support/toy-service.js';

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
  let others: Kernel[];

  const startProjector = (each: Kernel, signal = stop.signal) => {
    const projector = project(each, [contents], signal);
    running.push(projector);
    return projector;
  };
  const open = (each: Kernel) => each.lifecycle.ensureActive([contents], each.served, { signal: stop.signal });
  const put = async (id: string, toy: string) => {
    await kernel.vault.create(`toys.box-${id}`);
    await kernel.handle(box, `toys.box-${id}`, { box: id, toy, note: `note on ${toy}` }, context());
  };
  const rowOf = async (id: string, each = kernel) => {
    expect(
      await each.projectionProgress.wait('toys.contents', kernel.projectionProgress.latest([`toys.box-${id}`])),
    ).to.equal(true);
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
    others = [];
    kernel = await startToys(servers, database);
    await open(kernel);
  });
  afterEach(async () => {
    stop.abort();
    await Promise.all(running.map((projector) => projector.stopped));
    await kernel.mongo.models.dropDatabase();
    await Promise.all([kernel, ...others].map((each) => each.close()));
  });

  it('contains every acknowledged write when a read waits for it', async () => {
    startProjector(kernel);
    const id = randomUUID();
    for (let index = 1; index <= 20; index++) {
      await put(id, `toy-${index}`);
      expect((await rowOf(id))?.count).to.equal(index);
    }
  });

  it('stores secrets encrypted', async () => {
    startProjector(kernel);
    const id = randomUUID();
    await put(id, 'bear');
    const note = (await rowOf(id))?.toys[0]?.note ?? '';
    expect(note).to.be.a('string').and.not.contain('note on bear');
    expect(await kernel.vault.open(`toys.box-${id}`, note)).to.deep.equal({ note: 'note on bear' });
  });

  it('ignores redelivered events', async () => {
    const id = randomUUID();
    await put(id, 'bear');
    await put(id, 'car');
    startProjector(kernel);
    await rowOf(id);
    stop.abort();
    await Promise.all(running.map((projector) => projector.stopped));
    const collection = kernel.served.collection('toys.contents') ?? '';
    await kernel.checkpoints.forget(collection);
    stop = new AbortController();
    startProjector(kernel);
    await put(id, 'kite');
    expect(await rowOf(id)).to.deep.include({ count: 3 });
  });

  it('is rebuilt during writes, and no read misses an acknowledged write', async () => {
    startProjector(kernel);
    const id = randomUUID();
    const before = kernel.served.collection('toys.contents');
    let written = 0;
    const finished = new AbortController();
    // Also ends when the test fails midway; a running writer would keep the process alive.
    const ended = AbortSignal.any([finished.signal, stop.signal]);
    const writer = (async () => {
      while (!ended.aborted) {
        await put(id, `toy-${written}`);
        written++;
      }
    })();
    const reader = (async () => {
      while (!ended.aborted) {
        const least = written;
        const row = least > 0 ? await rowOf(id) : undefined;
        expect(row?.count ?? 0).to.be.at.least(least);
        await delay(1);
      }
    })();
    const rebuild = async () => {
      await kernel.lifecycle.rebuild(contents, { signal: stop.signal });
      await eventually(() => kernel.served.collection('toys.contents') !== before, stop.signal);
      const then = written;
      await eventually(() => written >= then + 20, stop.signal);
    };
    await Promise.all([rebuild().finally(() => finished.abort()), writer, reader]);
    expect((await rowOf(id))?.count).to.equal(written);
    expect(await kernel.lifecycle.check(contents, { signal: stop.signal })).to.deep.equal([]);
  });

  it('switches to a new build even if its node has adopted it already', async () => {
    const { follow, served } = kernel;
    startProjector({
      ...kernel,
      async *follow(options) {
        for await (const batch of follow(options)) {
          // As the live feed of the node does, which may be faster.
          for (const event of batch.events)
            if (isEvent<ProjectionSwitched>('ProjectionSwitched', event))
              served.adopt({ ...event.data, revision: event.revision });
          yield batch;
        }
      },
    });
    const id = randomUUID();
    await put(id, 'bear');
    await rowOf(id);
    const collection = await kernel.lifecycle.rebuild(contents, { signal: stop.signal });
    await eventually(() => served.collection('toys.contents') === collection, stop.signal);
    await put(id, 'car');
    expect(await rowOf(id)).to.deep.include({ count: 2 });
  });

  it('keeps its projector lease over several rebuilds', async () => {
    startProjector(kernel);
    const fence = async () => {
      const leases = kernel.mongo.models.collection<{ _id: string; fence: Long }>('leases');
      return Number((await leases.findOne({ _id: 'projector:toys' }))?.fence);
    };
    await eventually(async () => expect(await fence()).to.equal(1));
    for (let builds = 1; builds <= 4; builds++) {
      const collection = await kernel.lifecycle.rebuild(contents, { signal: stop.signal });
      await put('1', `toy-${builds}`);
      expect((await rowOf('1'))?.count).to.equal(builds);
      expect(kernel.served.collection('toys.contents')).to.equal(collection);
      // The checkpoint continues under the fencing token of the projector, which is lower than those of builders.
      const latest = kernel.projectionProgress.latestOf('toys');
      await eventually(async () => expect((await kernel.checkpoints.read(collection))! >= latest).to.equal(true));
    }
    expect(await fence()).to.equal(1);
  });

  it('is reported by a check if a row was modified', async () => {
    startProjector(kernel);
    const [one, two] = [randomUUID(), randomUUID()];
    await put(one, 'bear');
    await put(two, 'bear');
    await rowOf(two);
    const collection = kernel.served.collection('toys.contents') ?? '';
    // A check compares up to the checkpoint, which is saved a moment later.
    const latest = kernel.projectionProgress.latestOf('toys');
    await eventually(async () => ((await kernel.checkpoints.read(collection)) ?? 0n) >= latest, stop.signal);
    const rows = kernel.mongo.models.collection<{ _id: string }>(collection);
    await rows.updateOne({ _id: one }, { $set: { count: 7 } });
    await rows.deleteOne({ _id: two });
    const extra = randomUUID();
    await rows.insertOne({ _id: extra, _at: Long.ONE } as { _id: string });
    const looks = { lookAgainMs: [0, 100, 100] };
    const found = await kernel.lifecycle.check(contents, { signal: stop.signal, ...looks });
    expect(found).to.have.deep.members([
      { id: one, problem: 'different' },
      { id: two, problem: 'missing' },
      { id: extra, problem: 'superfluous' },
    ]);
  });

  it('resumes a build that was stopped', async () => {
    // Large, so that they arrive in several batches.
    for (let index = 0; index < 30; index++) await put(`box-${index}-${database}`, 'bear'.repeat(10_000));
    const cut = new AbortController();
    const stopped = kernel.lifecycle.rebuild(contents, { signal: cut.signal, onProgress: () => cut.abort() });
    expect(await stopped.catch(() => 'stopped')).to.equal('stopped');
    const unfinished = (await kernel.builds.list('toys_contents_v1_')).filter(
      (name) => name !== kernel.served.collection('toys.contents'),
    );
    const collection = await kernel.lifecycle.rebuild(contents, { signal: stop.signal });
    expect(unfinished).to.deep.equal([collection]);
  });

  it('has one projector among nodes, and another takes over', async () => {
    const second = await startToys(servers, database);
    others.push(second);
    await open(second);
    const first = new AbortController();
    const leader = startProjector(kernel, AbortSignal.any([first.signal, stop.signal]));
    await eventually(() => leader.status().status === 'live', stop.signal);
    const follower = startProjector(second);
    await delay(0);
    expect(follower.status().status).to.equal('standby');
    const id = randomUUID();
    await put(id, 'bear');
    expect((await rowOf(id, second))?.count).to.equal(1);
    first.abort();
    await leader.stopped;
    await eventually(() => follower.status().status === 'live', stop.signal);
    await put(id, 'car');
    expect((await rowOf(id, second))?.count).to.equal(2);
  });

  it('is live again after a failed write, even without further events', async () => {
    let fail = false;
    const { builds } = kernel;
    const projector = startProjector({
      ...kernel,
      builds: {
        ...builds,
        async open(...args) {
          const apply = await builds.open(...args);
          return async (events) => {
            if (!fail) return apply(events);
            fail = false;
            throw new UnavailableError('MongoDB does not answer');
          };
        },
      },
    });
    await eventually(() => projector.status().status === 'live', stop.signal);
    fail = true;
    const id = randomUUID();
    await put(id, 'bear');
    expect((await rowOf(id))?.count).to.equal(1);
    expect(fail).to.equal(false);
    expect(projector.status().status).to.equal('live');
  });

  it('does not drop a build that has just been started', async () => {
    const { builds, leases } = kernel;
    const begun = collectionName(contents, 'zzzzzzzz');
    const projector = startProjector({
      ...kernel,
      leases: {
        ...leases,
        async holder(name) {
          const found = await leases.holder(name);
          await builds.open(contents, begun, { assertHeld() {} });
          return found;
        },
      },
    });
    await eventually(() => projector.status().status === 'live', stop.signal);
    expect(await builds.list('toys_contents_v1_')).to.include(begun);
  });
});
