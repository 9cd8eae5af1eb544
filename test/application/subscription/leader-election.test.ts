/** LeaderOptions: one at a time, told when it is over, and on again after whatever ended it. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { UnavailableError } from '../../../application/ports/index.js';
import {
  type LeaderOptions,
  type LeaderTask,
  runAsLeader,
  withLease,
} from '../../../application/subscription/leader-election.js';
import { fakeClock } from '../../support/fake-clock.js';
import { leasesInMemory } from '../../support/memory-ports.js';

describe('leading', () => {
  const NAME = 'periodic:toys.tidy';
  const until = (stop: AbortSignal) => new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve()));

  it('gives back what the work gives, and the lease, also of work that fails', async () => {
    const { leases, held } = leasesInMemory();
    const { signal } = new AbortController();
    const led = await withLease(leases, NAME, signal, async () => [...held.keys()]);
    expect(led).to.deep.equal({ result: [NAME] });
    expect(held.size).to.equal(0);
    const failed = withLease(leases, NAME, signal, () => Promise.reject(new Error('it failed')));
    expect(await failed.catch(({ message }) => message)).to.equal('it failed');
    expect(held.size).to.equal(0);
  });

  it('fails in plain words where the work is stopped because the lease was lost', async () => {
    const { leases } = leasesInMemory();
    const lost = new AbortController();
    const acquire: typeof leases.acquire = async (name) => ({
      ...(await leases.acquire(name))!,
      lost: lost.signal,
    });
    const led = withLease({ ...leases, acquire }, NAME, new AbortController().signal, async (_, stop) => {
      lost.abort();
      stop.throwIfAborted();
    });
    const error = await led.catch((failed) => failed);
    expect(error)
      .to.be.instanceOf(UnavailableError)
      .and.include({ message: `lease ${NAME} was lost` });
  });

  it('is what it was though the lease can’t be given back', async () => {
    const { leases } = leasesInMemory();
    const { signal } = new AbortController();
    const acquire: typeof leases.acquire = async (name) => ({
      ...(await leases.acquire(name))!,
      release: () => Promise.reject(new Error('MongoDB is away')),
    });
    const led = await withLease({ ...leases, acquire }, NAME, signal, async () => 'done');
    expect(led).to.deep.equal({ result: 'done' });
  });

  it('runs nothing while another one leads', async () => {
    const { leases, taken } = leasesInMemory();
    taken.add(NAME);
    const lead = () => Promise.reject(new Error('it ran'));
    expect(await withLease(leases, NAME, new AbortController().signal, lead)).to.equal(undefined);
  });

  describe('kept up', () => {
    let world: ReturnType<typeof leasesInMemory>;
    let end: AbortController;
    let running: Promise<void>;
    const failures: unknown[] = [];
    let standbys = 0;

    beforeEach(() => {
      [world, end, standbys] = [leasesInMemory(), new AbortController(), 0];
      failures.length = 0;
    });
    afterEach(async () => {
      end.abort();
      await running;
      expect(world.held.size).to.equal(0);
    });

    function lead(work: LeaderTask, more: Partial<LeaderOptions> = {}) {
      running = runAsLeader({
        leases: world.leases,
        lease: NAME,
        task: work,
        standbyMs: 1,
        onStandby: () => void standbys++,
        onFailure: (error) => failures.push(error),
        signal: end.signal,
        ...more,
      });
    }

    it('goes on after it has lost its lease, after a failure, and after an end', async () => {
      let led = 0;
      lead(async (_, stop) => {
        if (++led === 1) return until(stop);
        if (led === 2) throw new Error('the second');
        if (led > 3) await until(stop);
      });
      await eventually(() => expect(led).to.equal(1));
      world.lose(NAME);
      await eventually(() => expect(led).to.equal(4));
      expect(failures.map(String)).to.deep.equal(['Error: the second']);
    });

    it('stands by while another one leads, or it may not', async () => {
      let [led, may] = [0, true];
      world.taken.add(NAME);
      const work: LeaderTask = async (_, stop) => {
        led++;
        await until(stop);
      };
      lead(work, { mayLead: () => may });
      await eventually(() => expect(standbys).to.be.greaterThan(1));
      may = false;
      world.taken.delete(NAME);
      const { asked } = world.state;
      const before = standbys;
      await eventually(() => expect(standbys).to.be.greaterThan(before + 2));
      expect(led).to.equal(0);
      expect(world.state.asked).to.be.at.most(asked + 1);
      may = true;
      await eventually(() => expect(led).to.equal(1));
    });

    it('is tried ever less often while it fails, up to every 5 s, and anew after it went well', async () => {
      const time = fakeClock();
      const pauses: number[] = [];
      let led = 0;
      const work: LeaderTask = async (_, stop) => {
        led++;
        if (led === 7) time.pass(5001);
        if (led === 10) return;
        if (led === 12) await until(stop);
        throw new Error('refused');
      };
      const sleep = async (ms: number) => {
        pauses.push(ms);
      };
      lead(work, { standbyMs: 500, time: { ...time, sleep } });
      await eventually(() => led === 12);
      expect(pauses.slice(0, 6)).to.deep.equal([500, 1000, 2000, 4000, 5000, 5000]);
      // The seventh had led for a while; the tenth came to its end.
      expect(pauses.slice(6)).to.deep.equal([500, 1000, 2000, 500, 500]);
    });

    it('waits no longer than it did while another one leads, though it failed before', async () => {
      const pauses: number[] = [];
      const acquire: LeaderOptions['leases']['acquire'] = async () => {
        if (pauses.length < 3) throw new Error('MongoDB is away');
        return undefined;
      };
      const sleep = async (ms: number) => {
        pauses.push(ms);
        if (pauses.length === 5) end.abort();
      };
      lead(async () => {}, {
        leases: { ...world.leases, acquire },
        time: { now: () => 0, sleep },
        standbyMs: 500,
      });
      await running;
      expect(pauses).to.deep.equal([500, 1000, 2000, 500, 500]);
    });

    it('says nothing of the end that it was told to come to', async () => {
      let led = 0;
      lead(async (_, stop) => {
        led++;
        await until(stop);
        stop.throwIfAborted();
      });
      await eventually(() => expect(led).to.equal(1));
      end.abort();
      await running;
      expect(failures).to.deep.equal([]);
    });
  });
});
