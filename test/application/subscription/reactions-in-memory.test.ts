/** Reactions and the live feed over a log in memory: from where they begin, and what they do not stumble over. */
import { eventually } from '@annals/engines/testing/condition.js';
import { silentLogger } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { type RecordedEvent, type RevealedEvent, UnavailableError } from '../../../application/ports/index.js';
import type { WindowStart } from '../../../application/subscription/live-feed.js';
import { runLiveFeed } from '../../../application/subscription/live-feed.js';
import { type ReactionOptions, runReaction } from '../../../application/subscription/reaction-runner.js';
import { type MemoryKernel, memoryKernel, memoryWorld } from '../../support/memory-kernel.js';
import { box, context, toys } from '../../support/toy-service.js';

describe('in memory, what follows the log', () => {
  let world: ReturnType<typeof memoryWorld>;
  let kernel: MemoryKernel;
  let stop: AbortController;
  let running: Promise<unknown>[];

  beforeEach(async () => {
    world = memoryWorld();
    kernel = memoryKernel(world, [toys]);
    [stop, running] = [new AbortController(), []];
    await kernel.vault.create('toys.box-1');
  });
  afterEach(async () => {
    stop.abort();
    await Promise.all(running);
  });

  const put = async (toy: string, more = {}) => {
    const outcome = await kernel.handle(box, 'toys.box-1', { box: '1', toy, note: `on ${toy}`, ...more }, context());
    if ('rejected' in outcome) throw new Error(outcome.rejected);
    return outcome.position;
  };
  const toyOf = ({ data }: RecordedEvent) => String(data.toy);

  describe('as a reaction', () => {
    const NAME = 'reaction:toys.react';
    const saved = () => kernel.checkpoints.read(NAME);

    function react(work: (event: RecordedEvent) => Promise<void>, more: Partial<ReactionOptions> = {}) {
      const reacted: string[] = [];
      const reaction = { name: 'toys.react', on: { ToyPut: work } };
      const told = (name: string) => void reacted.push(name);
      const common = { ...kernel, service: 'toys', logger: silentLogger, signal: stop.signal, begun: 0n };
      const run = runReaction({ ...common, reaction, reacted: told, ...more });
      running.push(run);
      return { reacted, run };
    }

    it('keeps no event waiting for another, where it may work on them side by side, and begins after what is done', async () => {
      const [seen, done]: [string[], string[]] = [[], []];
      let letGo = () => {};
      const held = new Promise<void>((resolve) => {
        letGo = resolve;
      });
      const reaction = {
        name: 'toys.react',
        concurrent: true as const,
        on: {
          async ToyPut(event: RecordedEvent) {
            seen.push(toyOf(event));
            if (toyOf(event) === 'slow') await held;
            done.push(toyOf(event));
          },
        },
      };
      react(async () => {}, { reaction });
      const first = await put('first');
      await put('slow');
      await eventually(() => seen.includes('slow'));
      await put('quick');
      await eventually(() => done.includes('quick'));
      await eventually(async () => (await saved()) === first);
      letGo();
      const last = await put('last');
      await eventually(async () => (await saved()) === last);
      expect(done).to.have.members(['first', 'slow', 'quick', 'last']);
    });

    it('begins at first where the log ended before the node served anybody', async () => {
      const begun = await put('history');
      await put('before it runs');
      const seen: string[] = [];
      react(async (event) => void seen.push(toyOf(event)), { begun });
      const last = await put('news');
      await eventually(async () => (await saved()) === last);
      expect(seen).to.deep.equal(['before it runs', 'news']);
    });

    it('goes on from its checkpoint, and from the end of a log that was restored from before it', async () => {
      const first = await put('bear');
      await kernel.checkpoints.advance({ [NAME]: first }, { name: NAME, fence: 0n });
      const second = await put('car');
      const seen: string[] = [];
      react(async (event) => void seen.push(toyOf(event)));
      await eventually(async () => (await saved()) === second);
      expect(seen).to.deep.equal(['car']);
      stop.abort();
      await Promise.all(running);
      stop = new AbortController();
      await kernel.checkpoints.advance({ [NAME]: second + 1000n }, { name: NAME, fence: 9n });
      const again = {
        ...kernel,
        leases: {
          ...kernel.leases,
          acquire: async (name: string) => {
            const lease = await kernel.leases.acquire(name);
            return lease && { ...lease, fence: 10n };
          },
        },
      };
      react(async (event) => void seen.push(toyOf(event)), { leases: again.leases });
      await eventually(async () => (await saved()) === second);
      const last = await put('doll');
      await eventually(async () => (await saved()) === last);
      expect(seen).to.deep.equal(['car', 'doll']);
    });

    it('is tried until it succeeds, is told of each failure, and counted once', async () => {
      const tried: string[] = [];
      const failures: object[] = [];
      const logger = { ...silentLogger, error: (fields: object) => void failures.push(fields) };
      const { reacted } = react(
        async (event) => {
          tried.push(toyOf(event));
          if (tried.length < 3) throw new Error('not yet');
        },
        { logger },
      );
      await put('bear');
      const last = await put('car');
      await eventually(async () => (await saved()) === last);
      expect(tried).to.deep.equal(['bear', 'bear', 'bear', 'car']);
      expect(failures.map((each) => (each as { retryMs: number }).retryMs)).to.deep.equal([100, 200]);
      expect(reacted).to.deep.equal(['toys.react', 'toys.react']);
    });

    it('leaves alone what it does not react to, and gives its lease back when it is stopped', async () => {
      const seen: string[] = [];
      const { run } = react(async (event) => void seen.push(toyOf(event)));
      await put('bear');
      await put('', { erase: true });
      const last = await put('car');
      await eventually(async () => (await saved()) === last);
      expect(seen).to.deep.equal(['bear', 'car']);
      expect(await kernel.leases.holder(NAME)).to.equal('one of these');
      stop.abort();
      await run;
      expect(await kernel.leases.holder(NAME)).to.equal(undefined);
    });

    it('does nothing while another node is at it', async () => {
      await kernel.leases.acquire(NAME);
      await put('bear');
      const { run } = react(() => expect.fail());
      await new Promise(setImmediate);
      stop.abort();
      await run;
      expect(await saved()).to.equal(undefined);
    });

    it('is left when the lease is lost in the middle, and another may do it', async () => {
      const done: string[] = [];
      let acquired = 0;
      const leases = {
        ...kernel.leases,
        async acquire(name: string) {
          const lease = await kernel.leases.acquire(name);
          if (lease) acquired++;
          return lease;
        },
      };
      react(
        async (event) => {
          done.push(toyOf(event));
          // Its process was paused, and the lease ran out.
          if (acquired === 1) world.held.delete(NAME);
        },
        { leases },
      );
      await put('bear');
      const last = await put('car');
      await eventually(async () => (await saved()) === last);
      expect(acquired).to.equal(2);
      expect(done.filter((toy) => toy === 'car')).to.have.length(1);
    });
  });

  describe('as the live feed', () => {
    /** What was left for the next start; `before` may refuse it. */
    function keptWindows(before = () => {}) {
      const left = new Map<string, WindowStart>();
      const save = async (windows: ReadonlyMap<string, WindowStart>) => {
        before();
        for (const [service, { horizon, from }] of windows) left.set(service, { horizon, from });
      };
      return { left, saved: { save } };
    }

    function feed(more: Partial<Parameters<typeof runLiveFeed>[0]> = {}) {
      const told: string[] = [];
      const switched: string[] = [];
      const one = runLiveFeed({
        ...kernel,
        saved: keptWindows().saved,
        catalogs: [toys],
        windows: new Map([['toys', { horizon: 0n, from: 0n }]]),
        begun: world.all.at(-1)?.commit ?? 0n,
        subscriptions: new Map([
          [
            'toys',
            [
              (event) =>
                void told.push(`toys ${event.type} ${(event as RevealedEvent & { data: { toy?: string } }).data.toy}`),
            ],
          ],
        ]),
        switched: ({ type }) => void switched.push(type),
        logger: silentLogger,
        signal: stop.signal,
        ...more,
      });
      running.push(one.stopped);
      return { ...one, told, switched };
    }

    it('tells every event of its services once, in order, and when it has come to the head', async () => {
      await put('bear');
      const last = await put('car');
      const { ready, status, told } = feed();
      expect(status()).to.equal('catching-up');
      expect(await ready).to.deep.equal(new Map([['toys', last]]));
      expect(status()).to.equal('live');
      await put('doll');
      await eventually(() => told.length === 3);
      expect(told).to.deep.equal(['toys ToyPut bear', 'toys ToyPut car', 'toys ToyPut doll']);
    });

    it('begins where the window does', async () => {
      const first = await put('bear');
      await put('car');
      const { ready, told } = feed({ windows: new Map([['toys', { horizon: first, from: first }]]) });
      await ready;
      expect(told).to.deep.equal(['toys ToyPut car']);
    });

    it('saves the windows for the next start, again when it has not worked', async () => {
      let failures = 1;
      const { left, saved } = keptWindows(() => {
        if (failures-- > 0) throw new UnavailableError('away');
      });
      const begin = { horizon: 0n, from: 0n };
      await put('bear');
      const { ready } = feed({ saved, windows: new Map([['toys', begin]]) });
      await ready;
      await eventually(() => left.has('toys'));
      expect(left.get('toys')).to.deep.equal(begin);
    });

    it('makes the node forget what is erased, and keeps what it remembers fresh', async () => {
      await put('bear');
      const { told } = feed();
      const other = memoryKernel(world, [toys]);
      await eventually(() => told.length === 1);
      await kernel.streams.load(box, 'toys.box-1');
      await other.handle(box, 'toys.box-1', { box: '1', toy: 'car' }, context());
      await eventually(() => told.length === 2);
      expect((await kernel.streams.load(box, 'toys.box-1')).state.toys).to.deep.equal(['bear', 'car']);
      await other.vault.destroy('toys.box-1');
      await other.handle(box, 'toys.box-1', { box: '1', toy: '', erase: true }, context());
      await eventually(() => told.length === 3);
      expect((await kernel.streams.load(box, 'toys.box-1')).state.notes).to.deep.equal(['erased', 'erased']);
    });

    it('does not end for one client that can not be told', async () => {
      const told: string[] = [];
      const failures: object[] = [];
      const { ready } = feed({
        subscriptions: new Map([
          [
            'toys',
            [
              (event) => {
                if (told.push(event.type) === 1) throw new Error('broken');
              },
            ],
          ],
        ]),
        logger: { ...silentLogger, error: (fields) => void failures.push(fields) },
      });
      await ready;
      await put('bear');
      await put('car');
      await eventually(() => told.length === 2);
      expect(failures).to.have.length(1);
    });
  });
});
