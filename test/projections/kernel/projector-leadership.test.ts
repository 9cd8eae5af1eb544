/** Leadership on several nodes: a paused, replaced or rejected leader writes nothing. */
import { randomUUID } from 'node:crypto';
import { eventually } from '@annals/engines/testing/condition.js';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { createLeases } from '../../../adapters/mongo/coordination/leases.js';
import type { Leases, Subscribe } from '../../../application/ports/index.js';
import type { Kernel } from '../../../bin/node/kernel.js';
import { buildUntil } from '../../../projections/kernel/build.js';
import type { Projection } from '../../../projections/kernel/projection.js';
import type { Projector } from '../../../projections/kernel/projector.js';
import { createRebuilder } from '../../../projections/kernel/rebuild.js';
import { type FakeClock, fakeClock } from '../../support/fake-clock.js';
import { project } from '../../support/test-kernel.js';
import { box, context, startToys, type ToyPut } from '../../support/toy-service.js';

/** One row per toy; the toy `bin` purges all rows of its box, and no event restores them. */
const shelf: Projection<ToyPut> = {
  name: 'toys.shelf',
  version: 1,
  indexes: [],
  on: {
    ToyPut: ({ data: { box, toy } }) =>
      toy === 'bin' ? [{ purge: { box } }] : [{ put: `${box}:${toy}`, update: { $set: { box } } }],
  },
};

/** A subscription that can be blocked before each batch. */
function gate(follow: Subscribe) {
  let passed = Promise.resolve();
  let pass = () => {};
  let pendingEvents: number | undefined;
  const close = () => {
    passed = new Promise((resolve) => {
      pass = resolve;
    });
  };
  return {
    close,
    /** Passes the blocked batch, and blocks the next one. */
    passOne() {
      pass();
      close();
    },
    /** Events in the blocked batch: 0 for a batch with only a position, undefined without a batch. */
    pendingEvents: () => pendingEvents,
    async *follow(options: Parameters<Subscribe>[0]): ReturnType<Subscribe> {
      const stopped = new Promise((resolve) => {
        options.signal.addEventListener('abort', resolve, { once: true });
      });
      for await (const batch of follow(options)) {
        pendingEvents = batch.events.length;
        await Promise.race([passed, stopped]);
        if (options.signal.aborted) return;
        pendingEvents = undefined;
        yield batch;
      }
    },
  };
}

describe('projector leadership', function () {
  this.timeout(120_000);
  let servers: Servers;
  let one: Kernel;
  let two: Kernel;
  let time: FakeClock;
  let stop: AbortController;
  let running: Projector[];
  let id: string;

  before(async () => {
    servers = await startServers();
  });
  after(() => servers?.stop());
  beforeEach(async () => {
    const database = `test_${randomUUID().slice(0, 8)}`;
    [stop, running, time, id] = [new AbortController(), [], fakeClock(), randomUUID()];
    one = await startToys(servers, database, [shelf]);
    two = await startToys(servers, database, [shelf]);
    for (const each of [one, two]) await each.lifecycle.ensureActive([shelf], each.served, stop);
    await one.vault.create(`toys.box-${id}`);
  });
  afterEach(async () => {
    stop.abort();
    await Promise.all(running.map(({ stopped }) => stopped));
    await one.mongo.models.dropDatabase();
    await Promise.all([one.close(), two.close()]);
  });

  const leasesOf = ({ mongo, node }: Kernel, clock = time) =>
    createLeases(mongo.models, node, { clock, monotonic: clock, after: clock.after });
  const startProjector = (kernel: Kernel, leases: Leases, follow = kernel.follow) => {
    const projector = project(kernel, [shelf], stop.signal, { leases, follow });
    running.push(projector);
    return projector;
  };
  const put = async (toy: string) => {
    const outcome = await one.handle(box, `toys.box-${id}`, { box: id, toy }, context());
    if ('rejected' in outcome) throw new Error(outcome.rejected);
    return outcome.position;
  };
  const collection = () => one.served.collection(shelf.name) ?? '';
  const rowsIn = async (name = collection()) =>
    (await one.mongo.models.collection<{ _id: string }>(name).find({ box: id }).toArray()).map(({ _id }) =>
      _id.slice(id.length + 1),
    );
  const isAt = async (position: bigint) => ((await one.checkpoints.read(collection())) ?? 0n) >= position;

  it('ends with a pause: the paused leader changes neither rows nor checkpoint', async () => {
    const door = gate(one.follow);
    const paused = startProjector(one, leasesOf(one), door.follow);
    await put('bear');
    await eventually(async () => (await rowsIn()).length === 1);
    door.close();
    await put('car');
    await eventually(() => {
      if (door.pendingEvents() === 0) door.passOne();
      return door.pendingEvents() ?? 0;
    });
    // The paused leader has nothing to save, so no rejected checkpoint tells it about the new leader.
    await eventually(async () => (await one.checkpoints.read(collection())) === paused.status().position);
    time.sleep(6000);
    const next = startProjector(two, leasesOf(two, fakeClock(time.now())));
    const last = await put('bin');
    await eventually(() => isAt(last));
    expect(await rowsIn()).to.deep.equal([]);
    const at = await one.checkpoints.read(collection());
    door.passOne();
    await eventually(() => paused.status().status === 'standby');
    expect(await rowsIn()).to.deep.equal([]);
    expect(await one.checkpoints.read(collection())).to.equal(at);
    expect(next.status().status).to.equal('live');
  });

  it('ends when a checkpoint is rejected, even before the lease renewal fails', async () => {
    let acquisitions = 0;
    const leases = leasesOf(one);
    const counted: Leases = { ...leases, acquire: (name) => leases.acquire(name).finally(() => acquisitions++) };
    startProjector(one, counted);
    const first = await put('bear');
    await eventually(() => isAt(first));
    expect(await one.checkpoints.advance({ [collection()]: first }, { name: 'projector:toys', fence: 1000n })).to.equal(
      true,
    );
    await put('car');
    await eventually(() => acquisitions > 1);
    expect(await one.checkpoints.read(collection())).to.equal(first);
  });

  it('ends for a builder that lost its lease, without a switch', async () => {
    await put('bear');
    const before = one.served.collection(shelf.name);
    const context = () => one.systemContext('test');
    const ports = { ...one, leases: leasesOf(one), newRun: () => Date.now().toString(36), context };
    const rebuilt = createRebuilder(ports).rebuild(shelf, {
      signal: stop.signal,
      onProgress: () => time.sleep(6000),
    });
    expect(await rebuilt.catch((error: Error) => error.message)).to.match(/lease .* was lost/);
    expect((await one.lifecycle.current(shelf)).state?.collection).to.equal(before);
  });

  it('ends for a builder when another one has advanced its checkpoint', async () => {
    const before = await one.head();
    const last = await put('bear');
    const name = `toys_shelf_v1_${randomUUID()}`;
    await one.checkpoints.advance({ [name]: before }, { name: 'build:toys.shelf', fence: 2n });
    const lease = { name: 'build:toys.shelf', fence: 1n, assertHeld() {} };
    const options = { projection: shelf, collection: name, until: last, signal: stop.signal };
    const outcome = await buildUntil(one, { ...options, lease }).catch((error: Error) => error.message);
    expect(outcome).to.equal('another builder took over');
    expect(await one.checkpoints.read(name)).to.equal(before);
    await buildUntil(one, { ...options, lease: { ...lease, fence: 2n } });
    expect(await rowsIn(name)).to.deep.equal(['bear']);
  });

  it('ends for a paused builder, which writes no rows', async () => {
    const last = await put('bear');
    const name = `toys_shelf_v1_${randomUUID()}`;
    const assertLost = () => {
      throw new Error('the lease is lost');
    };
    const lease = { name: 'build:toys.shelf', fence: 1n, assertHeld: assertLost };
    const options = { projection: shelf, collection: name, until: last, signal: stop.signal };
    const outcome = await buildUntil(one, { ...options, lease }).catch((error: Error) => error.message);
    expect(outcome).to.equal('the lease is lost');
    expect(await rowsIn(name)).to.deep.equal([]);
    expect(Number(await one.checkpoints.read(name)) || 0).to.be.lessThan(Number(last));
  });
});
