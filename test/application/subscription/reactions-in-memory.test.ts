/** Reactions and the live feed over a log in memory: where they start, and failures they survive. */
import { eventually } from '@annals/engines/testing/condition.js';
import { silentLogger } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { type RecordedEvent, type RevealedEvent, UnavailableError } from '../../../application/ports/index.js';
import type { WindowStart } from '../../../application/subscription/live-feed.js';
import { runLiveFeed } from '../../../application/subscription/live-feed.js';
import { type ReactionOptions, runReaction } from '../../../application/subscription/reaction-runner.js';
import { type MemoryKernel, memoryKernel, memoryWorld } from '../../support/memory-kernel.js';
import { box, context, toys } from '../../support/toy-service.js';

describe('in memory, subscriptions of the log', () => {
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

  describe('for a reaction', () => {
    const NAME = 'reaction:toys.react';
    const saved = () => kernel.checkpoints.read(NAME);

    function react(work: (event: RecordedEvent) => Promise<void>, more: Partial<ReactionOptions> = {}) {
      const reacted: string[] = [];
      const reaction = { name: 'toys.react', on: { ToyPut: work } };
      const onReacted = (name: string) => void reacted.push(name);
      const common = { ...kernel, service: 'toys', logger: silentLogger, signal: stop.signal, begun: 0n };
      const run = runReaction({ ...common, reaction, reacted: onReacted, ...more });
      running.push(run);
      return { reacted, run };
    }

    it('handle events concurrently if allowed, and keep the checkpoint before unfinished ones', async () => {
      const [seen, done]: [string[], string[]] = [[], []];
      let release = () => {};
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      const reaction = {
        name: 'toys.react',
        concurrent: true as const,
        on: {
          async ToyPut(event: RecordedEvent) {
            seen.push(toyOf(event));
            if (toyOf(event) === 'slow') await released;
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
      release();
      const last = await put('last');
      await eventually(async () => (await saved()) === last);
      expect(done).to.have.members(['first', 'slow', 'quick', 'last']);
    });

    it('start at the head when the node started', async () => {
      const begun = await put('history');
      await put('before it runs');
      const seen: string[] = [];
      react(async (event) => void seen.push(toyOf(event)), { begun });
      const last = await put('news');
      await eventually(async () => (await saved()) === last);
      expect(seen).to.deep.equal(['before it runs', 'news']);
    });

    it('continue at the checkpoint, or at the end of a log restored from an older backup', async () => {
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

    it('retry until success, log each failure, and count each event once', async () => {
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

    it('ignore other events, and release the lease when stopped', async () => {
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

    it('do nothing while another node holds the lease', async () => {
      await kernel.leases.acquire(NAME);
      await put('bear');
      const { run } = react(() => expect.fail());
      await new Promise(setImmediate);
      stop.abort();
      await run;
      expect(await saved()).to.equal(undefined);
    });

    it('stop when the lease is lost, so that another node can continue', async () => {
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
          // The process was paused until the lease expired.
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

  describe('for the live feed', () => {
    /** Saved windows; `before` can throw. */
    function windowStore(before = () => {}) {
      const savedWindows = new Map<string, WindowStart>();
      const save = async (windows: ReadonlyMap<string, WindowStart>) => {
        before();
        for (const [service, { horizon, from }] of windows) savedWindows.set(service, { horizon, from });
      };
      return { savedWindows, saved: { save } };
    }

    function feed(more: Partial<Parameters<typeof runLiveFeed>[0]> = {}) {
      const delivered: string[] = [];
      const switched: string[] = [];
      const one = runLiveFeed({
        ...kernel,
        saved: windowStore().saved,
        catalogs: [toys],
        windows: new Map([['toys', { horizon: 0n, from: 0n }]]),
        begun: world.all.at(-1)?.commit ?? 0n,
        subscriptions: new Map([
          [
            'toys',
            [
              (event) =>
                void delivered.push(
                  `toys ${event.type} ${(event as RevealedEvent & { data: { toy?: string } }).data.toy}`,
                ),
            ],
          ],
        ]),
        switched: ({ type }) => void switched.push(type),
        logger: silentLogger,
        signal: stop.signal,
        ...more,
      });
      running.push(one.stopped);
      return { ...one, delivered, switched };
    }

    it('deliver every event of their services once, in order, and report the head', async () => {
      await put('bear');
      const last = await put('car');
      const { ready, status, delivered } = feed();
      expect(status()).to.equal('catching-up');
      expect(await ready).to.deep.equal(new Map([['toys', last]]));
      expect(status()).to.equal('live');
      await put('doll');
      await eventually(() => delivered.length === 3);
      expect(delivered).to.deep.equal(['toys ToyPut bear', 'toys ToyPut car', 'toys ToyPut doll']);
    });

    it('start at the window', async () => {
      const first = await put('bear');
      await put('car');
      const { ready, delivered } = feed({ windows: new Map([['toys', { horizon: first, from: first }]]) });
      await ready;
      expect(delivered).to.deep.equal(['toys ToyPut car']);
    });

    it('save windows for the next start, and retry on failure', async () => {
      let failures = 1;
      const { savedWindows, saved } = windowStore(() => {
        if (failures-- > 0) throw new UnavailableError('away');
      });
      const begin = { horizon: 0n, from: 0n };
      await put('bear');
      const { ready } = feed({ saved, windows: new Map([['toys', begin]]) });
      await ready;
      await eventually(() => savedWindows.has('toys'));
      expect(savedWindows.get('toys')).to.deep.equal(begin);
    });

    it('make the node forget erased streams, and reload changed ones', async () => {
      await put('bear');
      const { delivered } = feed();
      const other = memoryKernel(world, [toys]);
      await eventually(() => delivered.length === 1);
      await kernel.aggregates.load(box, 'toys.box-1');
      await other.handle(box, 'toys.box-1', { box: '1', toy: 'car' }, context());
      await eventually(() => delivered.length === 2);
      expect((await kernel.aggregates.load(box, 'toys.box-1')).state.toys).to.deep.equal(['bear', 'car']);
      await other.vault.destroy('toys.box-1');
      await other.handle(box, 'toys.box-1', { box: '1', toy: '', erase: true }, context());
      await eventually(() => delivered.length === 3);
      expect((await kernel.aggregates.load(box, 'toys.box-1')).state.notes).to.deep.equal(['erased', 'erased']);
    });

    it('continue after a handler throws', async () => {
      const delivered: string[] = [];
      const failures: object[] = [];
      const { ready } = feed({
        subscriptions: new Map([
          [
            'toys',
            [
              (event) => {
                if (delivered.push(event.type) === 1) throw new Error('broken');
              },
            ],
          ],
        ]),
        logger: { ...silentLogger, error: (fields) => void failures.push(fields) },
      });
      await ready;
      await put('bear');
      await put('car');
      await eventually(() => delivered.length === 2);
      expect(failures).to.have.length(1);
    });
  });
});
