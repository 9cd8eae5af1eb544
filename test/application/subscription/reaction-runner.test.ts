/** Reactions: what must follow an event is done by one node, until it succeeds, and not by one that lost its turn. */
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

describe('a reaction', function () {
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
    // It has run before: what is put from now on is for it.
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

  it('begins where the log ended before the node served anybody, however late it comes to that', async () => {
    const seen: string[] = [];
    await kernel.checkpoints.forget(checkpoint());
    const begun = await kernel.head();
    await put('bear');
    await run(async (event) => void seen.push(toyOf(event)), { begun });
    await eventually(() => seen.includes('bear'));
  });

  it('begins now, not at the beginning of history', async () => {
    await kernel.checkpoints.forget(checkpoint());
    await put('history');
    const done: string[] = [];
    await run(async (event) => void done.push(toyOf(event)));
    await eventually(async () => (await saved()) !== undefined);
    await put('news');
    await eventually(() => done.length > 0);
    expect(done).to.deep.equal(['news']);
  });

  it('begins at the end of a log that was restored from a backup of before its checkpoint', async () => {
    const ahead = (await kernel.head()) + 1_000_000n;
    await kernel.checkpoints.advance({ [checkpoint()]: ahead }, { name: checkpoint(), fence: 0n });
    const done: string[] = [];
    await run(async (event) => void done.push(toyOf(event)));
    await eventually(async () => ((await saved()) ?? ahead) < ahead);
    await put('news');
    await eventually(() => done.length > 0);
    expect(done).to.deep.equal(['news']);
  });

  it('is tried until it succeeds, and the next event waits for it', async () => {
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

  it('goes on beside an event that can not be done, where none hangs on another, and begins before it again', async () => {
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
    // It is mended.
    bad.clear();
    await eventually(() => done.includes('bear'));
    const last = await put('kite');
    await eventually(async () => (await saved()) === last);
  });

  it('waits for a store that is away with all, where none hangs on another too', async () => {
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

  it('begins anew where its checkpoint could not be saved, though an event can not be done', async () => {
    const before = await put('bear');
    const position = await put('damaged');
    const events = await kernel.log.read(`toys.box-${id}`);
    const done: string[] = [];
    const checkpoints: Checkpoints = {
      ...kernel.checkpoints,
      async advance(...asked) {
        if (done.length === 1) throw new UnavailableError('the checkpoints are away');
        return kernel.checkpoints.advance(...asked);
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

  it('goes on after a restart where it was, and does again only what it was at', async () => {
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

  it('ends between two events when its node stops, however many have come at once', async () => {
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

  it('is not gone on with by a node that was paused in the middle', async () => {
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
        // Another node has taken its place meanwhile, and keeps it.
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

  it('is left when its checkpoint is refused: another has gone on with it', async () => {
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
