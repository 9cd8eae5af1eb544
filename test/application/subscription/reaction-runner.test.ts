/** The reaction runner: each event is handled by one node until it succeeds, and not by a node that lost its lease. */
import { randomUUID } from 'node:crypto';
import { eventually } from '@annals/engines/testing/condition.js';
import { type Servers, silentLogger, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { createLeases } from '../../../adapters/mongo/coordination/leases.js';
import {
  type Checkpoints,
  type Leases,
  type RecordedEvent,
  type Subscribe,
  UnavailableError,
} from '../../../application/ports/index.js';
import { runReaction } from '../../../application/subscription/reaction-runner.js';
import type { Kernel } from '../../../bin/node/kernel.js';
import { type FakeClock, fakeClock } from '../../support/fake-clock.js';
import { box, context, startToys } from '../../support/toy-service.js';

describe('the reaction runner', function () {
  this.timeout(120_000);
  let servers: Servers;
  let kernel: Kernel;
  let stop: AbortController;
  let running: Promise<void>[];
  let time: FakeClock;
  let id: string;
  let name: string;

  before(async () => {
    servers = await startServers();
    kernel = await startToys(servers, `test_${randomUUID().slice(0, 8)}`);
  });
  after(async () => {
    await kernel?.mongo.models.dropDatabase();
    await kernel?.close();
    await servers?.stop();
  });
  beforeEach(async () => {
    [stop, running, time] = [new AbortController(), [], fakeClock()];
    [id, name] = [randomUUID(), `toys.react-${randomUUID()}`];
    await kernel.vault.create(`toys.box-${id}`);
    // A checkpoint exists, so that every event from now on is handled.
    await kernel.checkpoints.advance({ [checkpoint()]: await kernel.head() }, { name: checkpoint(), fence: 0n });
  });
  afterEach(async () => {
    stop.abort();
    await Promise.all(running);
  });

  const checkpoint = () => `reaction:${name}`;
  const saved = () => kernel.checkpoints.read(checkpoint());
  const toyOf = ({ data }: RecordedEvent) => String(data.toy);
  const put = async (toy: string) => {
    const outcome = await kernel.handle(box, `toys.box-${id}`, { box: id, toy }, context());
    if ('rejected' in outcome) throw new Error(outcome.rejected);
    return outcome.position;
  };
  const run = async (
    react: (event: RecordedEvent) => Promise<void>,
    {
      begun,
      retryInBackground,
      ...more
    }: {
      leases?: Leases;
      follow?: Subscribe;
      checkpoints?: Checkpoints;
      begun?: bigint;
      retryInBackground?: true;
    } = {},
  ) => {
    const from = begun ?? (await kernel.head());
    const reaction = { name, on: { ToyPut: react }, ...(retryInBackground && { retryInBackground }) };
    const common = { ...kernel, ...more, logger: silentLogger, signal: stop.signal };
    running.push(runReaction({ ...common, service: 'toys', reaction, begun: from, reacted: () => {} }));
  };

  it('starts at the head of the log when the node started, even if it runs later', async () => {
    const seen: string[] = [];
    await kernel.checkpoints.forget(checkpoint());
    const begun = await kernel.head();
    await put('bear');
    await run(async (event) => void seen.push(toyOf(event)), { begun });
    await eventually(() => seen.includes('bear'));
  });

  it('starts at the head, not at the beginning of the log', async () => {
    await kernel.checkpoints.forget(checkpoint());
    await put('history');
    const done: string[] = [];
    await run(async (event) => void done.push(toyOf(event)));
    await eventually(async () => (await saved()) !== undefined);
    await put('news');
    await eventually(() => done.length > 0);
    expect(done).to.deep.equal(['news']);
  });

  it('starts at the head if the log was restored from a backup older than the checkpoint', async () => {
    const ahead = (await kernel.head()) + 1_000_000n;
    await kernel.checkpoints.advance({ [checkpoint()]: ahead }, { name: checkpoint(), fence: 0n });
    const done: string[] = [];
    await run(async (event) => void done.push(toyOf(event)));
    await eventually(async () => ((await saved()) ?? ahead) < ahead);
    await put('news');
    await eventually(() => done.length > 0);
    expect(done).to.deep.equal(['news']);
  });

  it('retries an event until it succeeds, before the next event', async () => {
    const tried: string[] = [];
    await run(async (event) => {
      tried.push(toyOf(event));
      if (tried.length < 5) throw new Error('not yet');
    });
    await put('bear');
    const last = await put('car');
    await eventually(async () => (await saved()) === last);
    expect(tried).to.deep.equal(['bear', 'bear', 'bear', 'bear', 'bear', 'car']);
  });

  it('continues past a failing event if retries run in the background, and keeps the checkpoint before it', async () => {
    const done: string[] = [];
    const bad = new Set(['bear']);
    const reacting = async (event: RecordedEvent) => {
      if (bad.has(toyOf(event))) throw new Error('the stream is damaged');
      done.push(toyOf(event));
    };
    await run(reacting, { retryInBackground: true });
    await eventually(async () => (await saved()) !== undefined);
    const before = await put('ball');
    await eventually(async () => (await saved()) === before);
    await put('bear');
    await put('car');
    await eventually(() => done.includes('car'));
    await put('doll');
    await eventually(() => done.includes('doll'));
    expect(done).to.deep.equal(['ball', 'car', 'doll']);
    expect(await saved()).to.equal(before);
    stop.abort();
    await Promise.all(running);
    expect(await saved()).to.equal(before);
    stop = new AbortController();
    await run(reacting, { retryInBackground: true });
    await eventually(() => done.filter((toy) => toy === 'doll').length === 2);
    // The stream is repaired.
    bad.clear();
    await eventually(() => done.includes('bear'));
    const last = await put('kite');
    await eventually(async () => (await saved()) === last);
  });

  it('waits for an unavailable store with all events, even if retries run in the background', async () => {
    const tried: string[] = [];
    const reacting = async (event: RecordedEvent) => {
      tried.push(toyOf(event));
      if (tried.length < 4) throw new UnavailableError('the log is away');
    };
    await run(reacting, { retryInBackground: true });
    await put('bear');
    await put('car');
    await eventually(() => tried.includes('car'));
    expect(tried).to.deep.equal(['bear', 'bear', 'bear', 'bear', 'car']);
  });

  it('starts again from the checkpoint if saving it fails while an event fails', async () => {
    const before = await put('bear');
    const position = await put('damaged');
    const events = await kernel.log.read(`toys.box-${id}`);
    const done: string[] = [];
    const checkpoints: Checkpoints = {
      ...kernel.checkpoints,
      async advance(...args) {
        if (done.length === 1) throw new UnavailableError('the checkpoints are away');
        return kernel.checkpoints.advance(...args);
      },
    };
    const reacting = async (event: RecordedEvent) => {
      if (toyOf(event) === 'damaged') throw new Error('the stream is damaged');
      done.push(toyOf(event));
    };
    async function* follow() {
      if (typeof events !== 'string') yield { events, position, caughtUp: true };
    }
    await run(reacting, { retryInBackground: true, checkpoints, follow });
    await eventually(async () => (await saved()) === before);
    expect(done).to.deep.equal(['bear', 'bear']);
  });

  it('continues at its checkpoint after a restart', async () => {
    const done: string[] = [];
    await run(async (event) => void done.push(toyOf(event)));
    const first = await put('bear');
    await eventually(async () => (await saved()) === first);
    stop.abort();
    await Promise.all(running);
    const missed = await put('car');
    stop = new AbortController();
    await run(async (event) => void done.push(toyOf(event)));
    await eventually(async () => (await saved()) === missed);
    expect(done).to.deep.equal(['bear', 'car']);
  });

  it('stops between two events of a batch when the node stops', async () => {
    await put('bear');
    const position = await put('car');
    const events = await kernel.log.read(`toys.box-${id}`);
    const done: string[] = [];
    await run(
      async (event) => {
        done.push(toyOf(event));
        stop.abort();
      },
      {
        async *follow() {
          if (typeof events !== 'string') yield { events, position, caughtUp: true };
        },
      },
    );
    await Promise.all(running);
    expect(done).to.deep.equal(['bear']);
  });

  it('does not continue on a node that was paused beyond its lease', async () => {
    const leases = createLeases(kernel.mongo.models, 'paused', {
      clock: time,
      monotonic: time,
      after: time.after,
    });
    const done: string[] = [];
    await put('bear');
    const last = await put('car');
    let released = 0;
    const counting: Leases = {
      ...leases,
      async acquire(each) {
        const lease = await leases.acquire(each);
        if (!lease) return undefined;
        const release = () => lease.release().finally(() => released++);
        return { ...lease, release };
      },
    };
    await run(
      async (event) => {
        done.push(toyOf(event));
        if (toyOf(event) === 'car') return;
        time.sleep(6000);
        // Another node has acquired the lease meanwhile.
        await createLeases(kernel.mongo.models, 'other', {
          clock: time,
          monotonic: time,
          after: time.after,
        }).acquire(checkpoint());
      },
      { leases: counting },
    );
    await eventually(() => released > 0);
    expect(done).to.deep.equal(['bear']);
    expect(Number(await saved())).to.be.lessThan(Number(last));
  });

  it('starts over when its checkpoint is rejected because another node has a newer fencing token', async () => {
    let acquired = 0;
    const leases: Leases = {
      ...kernel.leases,
      acquire: async (each) => {
        const lease = await kernel.leases.acquire(each);
        if (lease) acquired++;
        return lease;
      },
    };
    const done: string[] = [];
    await run(async (event) => void done.push(toyOf(event)), { leases });
    const first = await put('bear');
    await eventually(async () => (await saved()) === first);
    await kernel.checkpoints.advance({ [checkpoint()]: first }, { name: checkpoint(), fence: 1000n });
    await put('car');
    await eventually(() => acquired > 1);
    expect(done.slice(0, 2)).to.deep.equal(['bear', 'car']);
    expect(await saved()).to.equal(first);
  });
});
