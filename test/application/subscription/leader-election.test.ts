/** Leader election: one leader at a time, aborted when the lease is lost, and elected again after any end. */
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

describe('leader election', () => {
  const NAME = 'periodic:toys.tidy';
  const until = (stop: AbortSignal) => new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve()));

  it('returns the result of the task and releases the lease, even after a failure', async () => {
    const { leases, held } = leasesInMemory();
    const { signal } = new AbortController();
    const terms = await withLease(leases, NAME, signal, async () => [...held.keys()]);
    expect(terms).to.deep.equal({ result: [NAME] });
    expect(held.size).to.equal(0);
    const failed = withLease(leases, NAME, signal, () => Promise.reject(new Error('it failed')));
    expect(await failed.catch(({ message }) => message)).to.equal('it failed');
    expect(held.size).to.equal(0);
  });

  it('fails with "lease was lost" if the task is aborted by a lost lease', async () => {
    const { leases } = leasesInMemory();
    const lost = new AbortController();
    const acquire: typeof leases.acquire = async (name) => ({
      ...(await leases.acquire(name))!,
      lost: lost.signal,
    });
    const terms = withLease({ ...leases, acquire }, NAME, new AbortController().signal, async (_, stop) => {
      lost.abort();
      stop.throwIfAborted();
    });
    const error = await terms.catch((failed) => failed);
    expect(error)
      .to.be.instanceOf(UnavailableError)
      .and.include({ message: `lease ${NAME} was lost` });
  });

  it('returns the result even if the lease cannot be released', async () => {
    const { leases } = leasesInMemory();
    const { signal } = new AbortController();
    const acquire: typeof leases.acquire = async (name) => ({
      ...(await leases.acquire(name))!,
      release: () => Promise.reject(new Error('MongoDB is away')),
    });
    const terms = await withLease({ ...leases, acquire }, NAME, signal, async () => 'done');
    expect(terms).to.deep.equal({ result: 'done' });
  });

  it('runs nothing while another node leads', async () => {
    const { leases, taken } = leasesInMemory();
    taken.add(NAME);
    const startLeader = () => Promise.reject(new Error('must not run'));
    expect(await withLease(leases, NAME, new AbortController().signal, startLeader)).to.equal(undefined);
  });

  describe('as a running leader', () => {
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

    function startLeader(work: LeaderTask, more: Partial<LeaderOptions> = {}) {
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

    it('runs again after a lost lease, a failure or a normal end', async () => {
      let terms = 0;
      startLeader(async (_, stop) => {
        if (++terms === 1) return until(stop);
        if (terms === 2) throw new Error('the second');
        if (terms > 3) await until(stop);
      });
      await eventually(() => expect(terms).to.equal(1));
      world.lose(NAME);
      await eventually(() => expect(terms).to.equal(4));
      expect(failures.map(String)).to.deep.equal(['Error: the second']);
    });

    it('stands by while another node leads, or while it may not lead', async () => {
      let [terms, may] = [0, true];
      world.taken.add(NAME);
      const work: LeaderTask = async (_, stop) => {
        terms++;
        await until(stop);
      };
      startLeader(work, { mayLead: () => may });
      await eventually(() => expect(standbys).to.be.greaterThan(1));
      may = false;
      world.taken.delete(NAME);
      const { calls } = world.state;
      const before = standbys;
      await eventually(() => expect(standbys).to.be.greaterThan(before + 2));
      expect(terms).to.equal(0);
      expect(world.state.calls).to.be.at.most(calls + 1);
      may = true;
      await eventually(() => expect(terms).to.equal(1));
    });

    it('backs off on failures up to 5 s, and starts over after a success', async () => {
      const time = fakeClock();
      const pauses: number[] = [];
      let terms = 0;
      const work: LeaderTask = async (_, stop) => {
        terms++;
        if (terms === 7) time.pass(5001);
        if (terms === 10) return;
        if (terms === 12) await until(stop);
        throw new Error('refused');
      };
      const sleep = async (ms: number) => {
        pauses.push(ms);
      };
      startLeader(work, { standbyMs: 500, time: { ...time, sleep } });
      await eventually(() => terms === 12);
      expect(pauses.slice(0, 6)).to.deep.equal([500, 1000, 2000, 4000, 5000, 5000]);
      // Term 7 lasted more than 5 s; term 10 ended normally.
      expect(pauses.slice(6)).to.deep.equal([500, 1000, 2000, 500, 500]);
    });

    it('does not back off while another node leads, even after failures', async () => {
      const pauses: number[] = [];
      const acquire: LeaderOptions['leases']['acquire'] = async () => {
        if (pauses.length < 3) throw new Error('MongoDB is away');
        return undefined;
      };
      const sleep = async (ms: number) => {
        pauses.push(ms);
        if (pauses.length === 5) end.abort();
      };
      startLeader(async () => {}, {
        leases: { ...world.leases, acquire },
        time: { now: () => 0, sleep },
        standbyMs: 500,
      });
      await running;
      expect(pauses).to.deep.equal([500, 1000, 2000, 500, 500]);
    });

    it('does not report the end of an aborted task as failure', async () => {
      let terms = 0;
      startLeader(async (_, stop) => {
        terms++;
        await until(stop);
        stop.throwIfAborted();
      });
      await eventually(() => expect(terms).to.equal(1));
      end.abort();
      await running;
      expect(failures).to.deep.equal([]);
    });
  });
});
