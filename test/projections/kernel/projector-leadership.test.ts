/** Many nodes and one leader: who was paused, replaced or refused writes nothing any more. */
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

/** A row a toy; the toy `bin` takes all of its box away, and no event brings them back. */
const shelf: Projection<ToyPut> = {
  name: 'toys.shelf',
  version: 1,
  indexes: [],
  on: {
    ToyPut: ({ data: { box, toy } }) =>
      toy === 'bin' ? [{ purge: { box } }] : [{ put: `${box}:${toy}`, update: { $set: { box } } }],
  },
};

/** A door that what is followed has to pass, one batch after the other. */
function gate(follow: Subscribe) {
  let passed = Promise.resolve();
  let pass = () => {};
  let held: number | undefined;
  const close = () => {
    passed = new Promise((resolve) => {
      pass = resolve;
    });
  };
  return {
    close,
    /** What stands before the closed door may pass; it closes behind it. */
    letIn() {
      pass();
      close();
    },
    /** How many events stand before the closed door: none where only the log's progress is told. */
    held: () => held,
    async *follow(options: Parameters<Subscribe>[0]): ReturnType<Subscribe> {
      const stopped = new Promise((resolve) => {
        options.signal.addEventListener('abort', resolve, { once: true });
      });
      for await (const batch of follow(options)) {
        held = batch.events.length;
        await Promise.race([passed, stopped]);
        if (options.signal.aborted) return;
        held = undefined;
        yield batch;
      }
    },
  };
}

describe('leading', function () {
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
  const lead = (kernel: Kernel, leases: Leases, follow = kernel.follow) => {
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

  it('ends with a pause: what the paused leader had in hand changes neither rows nor checkpoint', async () => {
    const door = gate(one.follow);
    const paused = lead(one, leasesOf(one), door.follow);
    await put('bear');
    await eventually(async () => (await rowsIn()).length === 1);
    door.close();
    await put('car');
    await eventually(() => {
      if (door.held() === 0) door.letIn();
      return door.held() ?? 0;
    });
    // It has nothing left to save, so nothing tells it that another leads.
    await eventually(async () => (await one.checkpoints.read(collection())) === paused.status().position);
    time.sleep(6000);
    const next = lead(two, leasesOf(two, fakeClock(time.now())));
    const last = await put('bin');
    await eventually(() => isAt(last));
    expect(await rowsIn()).to.deep.equal([]);
    const at = await one.checkpoints.read(collection());
    door.letIn();
    await eventually(() => paused.status().status === 'standby');
    expect(await rowsIn()).to.deep.equal([]);
    expect(await one.checkpoints.read(collection())).to.equal(at);
    expect(next.status().status).to.equal('live');
  });

  it('ends when the checkpoint is refused, though no renewal has told so yet', async () => {
    let began = 0;
    const leases = leasesOf(one);
    const counted: Leases = { ...leases, acquire: (name) => leases.acquire(name).finally(() => began++) };
    lead(one, counted);
    const first = await put('bear');
    await eventually(() => isAt(first));
    expect(await one.checkpoints.advance({ [collection()]: first }, { name: 'projector:toys', fence: 1000n })).to.equal(
      true,
    );
    await put('car');
    await eventually(() => began > 1);
    expect(await one.checkpoints.read(collection())).to.equal(first);
  });

  it('is over for a builder that lost its lease: nothing is switched to', async () => {
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

  it('is over for a builder whose checkpoint another has moved on', async () => {
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

  it('is over for a builder that was paused: it writes no row', async () => {
    const last = await put('bear');
    const name = `toys_shelf_v1_${randomUUID()}`;
    const lost = () => {
      throw new Error('the lease is lost');
    };
    const lease = { name: 'build:toys.shelf', fence: 1n, assertHeld: lost };
    const options = { projection: shelf, collection: name, until: last, signal: stop.signal };
    const outcome = await buildUntil(one, { ...options, lease }).catch((error: Error) => error.message);
    expect(outcome).to.equal('the lease is lost');
    expect(await rowsIn(name)).to.deep.equal([]);
    expect(Number(await one.checkpoints.read(name)) || 0).to.be.lessThan(Number(last));
  });
});
