/** The rules of builds: where one begins and ends, who may make it, what is compared, what is left behind. */
import { expect } from 'chai';
import { Long } from 'mongodb';
import type { Follow, Position, RecordedEvent } from '../../application/ports.js';
import type { ServedState, SwitchProjection } from '../../domain/shared/served.js';
import { built, type CatchUpOptions, catchUp, type Progress } from '../../projections/catch-up.js';
import { BuildInProgress, createLifecycle, type LifecyclePorts } from '../../projections/lifecycle.js';
import { type Builds, newRun, type Row, runOf } from '../../projections/projection.js';
import { createServed } from '../../projections/served.js';
import { eventually } from '../support/condition.js';
import { rejection } from '../support/eventstore-client.js';
import { buildsInMemory, checkpointsInMemory, eventAt, leasesInMemory } from '../support/ports.js';
import { contents } from '../support/toys.js';

const LEASE = `build:${contents.name}`;

describe('a build', () => {
  let events: RecordedEvent[];
  let asked: Parameters<Follow>[0][];
  let atOnce: number;
  let builds: ReturnType<typeof buildsInMemory>;
  let checkpoints: ReturnType<typeof checkpointsInMemory>;
  let leases: ReturnType<typeof leasesInMemory>;
  let stop: AbortController;

  beforeEach(() => {
    [events, asked, atOnce, stop] = [[], [], 1000, new AbortController()];
    [builds, checkpoints, leases] = [buildsInMemory(), checkpointsInMemory(), leasesInMemory()];
  });
  afterEach(() => stop.abort());

  /** What is in the log, then that its head is reached, then nothing. */
  const follow: Follow = async function* (options) {
    asked.push(options);
    const from = options.from === 'start' ? -1n : options.from;
    const news = events.filter(({ position }) => position > from);
    for (let at = 0; at < news.length; at += atOnce) {
      const some = news.slice(at, at + atOnce);
      if (options.signal.aborted) return;
      yield { events: some, position: some.at(-1)!.position, caughtUp: false };
    }
    if (options.signal.aborted) return;
    yield { events: [], caughtUp: true };
    if (!options.signal.aborted)
      await new Promise((resolve) => {
        options.signal.addEventListener('abort', resolve, { once: true });
      });
  };
  const ports = () => ({
    follow,
    builds: builds.builds,
    checkpoints: checkpoints.checkpoints,
    leases: leases.leases,
  });
  const save = (name: string, position: Position) =>
    checkpoints.kept.set(name, { position, lease: 'build:toys.contents', fence: 0n });
  const saved = (name: string) => checkpoints.kept.get(name)?.position;
  const written = (name: string) => builds.collections.get(name);
  const put = (...positions: readonly bigint[]) => events.push(...positions.map((each) => eventAt(each)));

  describe('that catches up', () => {
    const held = { name: 'build:toys.shelf', fence: 3n, assertHeld() {} };
    const to = (until: Position, more: Partial<CatchUpOptions> = {}) =>
      catchUp(ports(), {
        projection: contents,
        collection: 'c',
        until,
        lease: held,
        signal: stop.signal,
        ...more,
      });

    it('takes the events of its service up to where it is wanted, and saves how far it is under its fence', async () => {
      put(10n, 20n, 30n, 40n);
      atOnce = 1;
      const told: Progress[] = [];
      await to(30n, { onProgress: (progress) => told.push(progress) });
      expect(asked[0]).to.deep.include({ prefixes: ['toys.'], from: 'start' });
      expect(written('c')).to.deep.equal([10n, 20n, 30n]);
      expect(checkpoints.kept.get('c')).to.deep.equal({ position: 30n, lease: held.name, fence: 3n });
      expect(told).to.deep.equal([
        { events: 1, position: 10n },
        { events: 2, position: 20n },
        { events: 3, position: 30n },
      ]);
    });

    it('goes on from its checkpoint, and does nothing when it is there', async () => {
      put(10n, 20n, 30n);
      save('c', 10n);
      await to(20n);
      expect([asked[0]?.from, written('c')]).to.deep.equal([10n, [20n, 30n]]);
      await to(30n);
      await to(25n);
      expect([asked.length, written('c')]).to.deep.equal([1, [20n, 30n]]);
      await to(31n);
      expect(asked).to.have.length(2);
    });

    it('is far enough at the head of the log, where nothing of its service is left', async () => {
      put(10n);
      await to(77n);
      expect([saved('c'), written('c')]).to.deep.equal([77n, [10n]]);
      await to(90n, { collection: 'empty' });
    });

    it('waits on where the log says neither an event nor how far it was looked through', async () => {
      put(10n);
      const slow: Follow = async function* (options) {
        yield { events: [], caughtUp: false };
        yield* follow(options);
      };
      const options = { projection: contents, collection: 'c', until: 10n, lease: held, signal: stop.signal };
      await catchUp({ ...ports(), follow: slow }, options);
      expect([saved('c'), checkpoints.state.saves]).to.deep.equal([10n, 1]);
    });

    it('says that it was stopped', async () => {
      put(10n, 20n);
      atOnce = 1;
      const stopped = to(99n, { onProgress: () => stop.abort() });
      expect(await rejection(stopped)).to.have.property('message', 'the build was stopped');
      expect(saved('c')).to.equal(10n);
    });

    it('asks for as few events at once as its model can take', async () => {
      const large = { name: 'toys.large', version: 1, atOnce: 7, open: async () => async () => {} };
      await to(5n, { projection: { ...large, async *scan() {} } });
      expect(asked[0]?.atOnce).to.equal(7);
    });
  });

  describe('that is waited for', () => {
    const made = () =>
      built(ports(), { projection: contents, collection: 'c', until: 20n, signal: stop.signal });

    it('is there once its checkpoint says so, whoever made it', async () => {
      save('c', 20n);
      await made();
      expect([leases.state.asked, asked.length]).to.deep.equal([0, 0]);
      save('c', 19n);
      leases.taken.add(LEASE);
      const waiting = made();
      await eventually(() => leases.state.asked > 1);
      save('c', 20n);
      await waiting;
      expect(asked).to.deep.equal([]);
    });

    it('is finished when its builder has died', async () => {
      put(10n, 20n);
      leases.taken.add(LEASE);
      const waiting = made();
      await eventually(() => leases.state.asked > 1);
      leases.taken.clear();
      await waiting;
      expect([written('c'), leases.held.size]).to.deep.equal([[10n, 20n], 0]);
    });

    it('is not waited for by who was stopped, or has lost the lease', async () => {
      leases.taken.add(LEASE);
      const waiting = rejection(made());
      await eventually(() => leases.state.asked > 0);
      stop.abort();
      expect(await waiting).to.have.property('name', 'AbortError');
      expect(await rejection(made())).to.have.property('name', 'AbortError');
      stop = new AbortController();
      leases.taken.clear();
      builds.builds.open = async () => async () => leases.lose(LEASE);
      put(10n);
      const { asked: before } = leases.state;
      expect(await rejection(made())).to.be.instanceOf(Error);
      expect([leases.held.size, leases.state.asked]).to.deep.equal([0, before + 1]);
    });
  });

  describe('of its life', () => {
    let state: ServedState;
    let revision: number;
    let head: Position;
    let runs: number;
    let rejected: string | undefined;

    beforeEach(() => {
      [state, revision, head, runs, rejected] = [undefined, -1, 100n, 0, undefined];
    });

    const lifecycle = (more: Partial<LifecyclePorts> = {}) =>
      createLifecycle({
        ...ports(),
        streams: { refresh: async () => ({ state, revision }) },
        handle: async (_: unknown, stream: string, { type: _type, ...build }: SwitchProjection) => {
          expect(stream).to.equal('toys.projection-contents');
          if (rejected) return { rejected, kind: 'conflict' };
          [state, revision, head] = [build, revision + 1, head + 10n];
          events.push(eventAt(head, 'ProjectionSwitched', build, revision));
          return { position: head };
        },
        head: async () => head,
        newRun: () => `run${++runs}`,
        context: () => ({ commandId: 'x', actor: 'system', correlationId: 'x' }),
        ...more,
      } as unknown as LifecyclePorts);
    const serve = (collection: string, version = 1) => {
      [state, revision] = [{ projection: contents.name, version, collection }, 0];
      builds.collections.set(collection, []);
    };
    const open = (more: object = {}, served = createServed()) =>
      lifecycle()
        .open([contents], served, { signal: stop.signal, ...more })
        .then(() => served.known(contents.name));

    it('is an empty one where none was ever served: the projector fills it', async () => {
      put(10n);
      expect(await open()).to.deep.equal({
        projection: contents.name,
        version: 1,
        collection: 'toys_contents_v1_run1',
        revision: 0,
      });
      expect([asked, leases.state.asked]).to.deep.equal([[], 0]);
      // Whoever reads before that finds it empty, not dropped.
      expect([...builds.collections.keys()]).to.deep.equal(['toys_contents_v1_run1']);
    });

    it('is the one that is served where that is of the present version', async () => {
      serve('toys_contents_v1_a');
      save('toys_contents_v1_a', 100n);
      expect((await open())?.collection).to.equal('toys_contents_v1_a');
      expect([asked, runs]).to.deep.equal([[], 0]);
    });

    it('is made before anybody reads where that is of another version', async () => {
      serve('toys_contents_v0_a', 0);
      put(10n);
      const told: [Progress, Position][] = [];
      const ahead: unknown[] = [];
      const known = await open({
        onProgress: (...each: [Progress, Position]) => told.push(each),
        onAhead: (each: unknown) => ahead.push(each),
      });
      expect(known).to.deep.include({ collection: 'toys_contents_v1_run1', version: 1, revision: 1 });
      expect(written('toys_contents_v1_run1')).to.deep.equal([10n, 110n]);
      expect(saved('toys_contents_v1_run1')).to.equal(110n);
      expect(told.map(([{ events: count, position }, until]) => [count, position, until])).to.deep.equal([
        [1, 10n, 100n],
        [1, 100n, 100n],
        [2, 110n, 110n],
      ]);
      expect([ahead, leases.held.size]).to.deep.equal([[], 0]);
    });

    it('is made anew, and told of, where that is ahead of the log', async () => {
      serve('toys_contents_v1_a');
      builds.collections.set('toys_contents_v1_a', [101n]);
      save('toys_contents_v1_a', 101n);
      const ahead: unknown[] = [];
      const known = await open({ onAhead: (each: unknown) => ahead.push(each) });
      expect([known?.collection, ahead]).to.deep.equal(['toys_contents_v1_run1', [contents]]);
    });

    it('is made anew, and told of, where it has rows and nobody knows how far it is', async () => {
      serve('toys_contents_v1_a');
      builds.collections.set('toys_contents_v1_a', [50n]);
      const ahead: unknown[] = [];
      const known = await open({ onAhead: (each: unknown) => ahead.push(each) });
      expect([known?.collection, ahead]).to.deep.equal(['toys_contents_v1_run1', [contents]]);

      serve('toys_contents_v1_b');
      expect((await open())?.collection).to.equal('toys_contents_v1_b');
    });

    it('leaves no checkpoint ahead of the log, whosever it is: the log will grow past it', async () => {
      serve('toys_contents_v1_a');
      save('toys_contents_v1_a', 100n);
      save('rooms_state_v1_b', 101n);
      save('reaction:rooms.erase', 100n);
      await open();
      expect([...checkpoints.kept.keys()]).to.deep.equal(['toys_contents_v1_a', 'reaction:rooms.erase']);
    });

    it('is waited for while another process is at it, and what goes wrong is not', async () => {
      serve('toys_contents_v0_a', 0);
      leases.taken.add(LEASE);
      const opening = open();
      await eventually(() => leases.state.asked === 1);
      serve('toys_contents_v1_b');
      expect((await opening)?.collection).to.equal('toys_contents_v1_b');
      expect(leases.state.asked).to.equal(1);

      serve('toys_contents_v0_a', 0);
      const stopped = rejection(open());
      await eventually(() => leases.state.asked === 2);
      stop.abort();
      expect(await stopped).to.have.property('name', 'AbortError');
      stop = new AbortController();
      leases.taken.clear();
      rejected = 'not now';
      expect(await rejection(open())).to.have.property('message', 'not now');
      expect(leases.held.size).to.equal(0);
    });

    const rebuild = (onProgress?: () => void) =>
      lifecycle().rebuild(contents, { signal: stop.signal, ...(onProgress && { onProgress }) });

    it('is one process’s at a time', async () => {
      serve('toys_contents_v1_a');
      leases.taken.add(LEASE);
      const refused = await rejection(rebuild());
      expect(refused).to.be.instanceOf(BuildInProgress);
      expect(refused).to.include({
        name: 'BuildInProgress',
        message: 'toys.contents is being built by another process',
      });
    });

    it('goes on where it was stopped, and not with what is older, of another version or ahead', async () => {
      serve('toys_contents_v1_k');
      save('toys_contents_v1_k', 60n);
      for (const [name, position] of [
        ['toys_contents_v1_j', 50n],
        ['toys_contents_v2_m', 50n],
        ['toys_contents_v1_m', 101n],
        ['toys_contents_v1_n', undefined],
        ['toys_contents_v1_p', 50n],
      ] as const) {
        builds.collections.set(name, []);
        if (position) save(name, position);
      }
      expect(await rebuild()).to.equal('toys_contents_v1_p');
      expect([asked[0]?.from, runs]).to.deep.equal([50n, 0]);
    });

    it('is of a later run than what is served, and of one that none ever had, though clocks are behind', async () => {
      put(10n);
      const now = 1_800_000_000_000;
      let random = 9999;
      const fresh = () => String(random--);
      const ahead = newRun('', now + 3_600_000, fresh());
      serve(`toys_contents_v1_${ahead}`);
      const behind = lifecycle({ newRun: (after) => newRun(after, now, fresh()) });
      const begun = async (isStopped: boolean) => {
        const stopping = new AbortController();
        const onProgress = () => isStopped && stopping.abort();
        const before = new Set(builds.collections.keys());
        const building = behind.rebuild(contents, { signal: stopping.signal, onProgress });
        await (isStopped ? rejection(building) : building);
        return [...builds.collections.keys()].find((name) => !before.has(name)) ?? 'none';
      };
      const dropped = await begun(true);
      builds.collections.delete(dropped);
      checkpoints.kept.delete(dropped);
      const runs = [dropped, await begun(false), await begun(false)].map(runOf);
      expect(new Set(runs).size).to.equal(3);
      expect(runs[0]! > ahead && runs[1]! > ahead && runs[2]! > runs[1]!, runs.join()).to.equal(true);
      // They do not grow with every build.
      expect(runs.map((run) => run.length)).to.deep.equal(Array(3).fill(ahead.length));
    });

    it('ends with its lease: nothing is switched to', async () => {
      serve('toys_contents_v1_a');
      put(10n);
      expect(await rejection(rebuild(() => leases.lose(LEASE)))).to.be.instanceOf(Error);
      expect([state?.collection, leases.held.size]).to.deep.equal(['toys_contents_v1_a', 0]);
      expect(asked[0]?.signal.aborted).to.equal(true);
    });

    it('ends when it is stopped, and nothing is switched to', async () => {
      serve('toys_contents_v1_a');
      put(10n);
      expect(await rejection(rebuild(() => stop.abort()))).to.have.property(
        'message',
        'the build was stopped',
      );
      expect([state?.collection, leases.held.size]).to.deep.equal(['toys_contents_v1_a', 0]);
    });

    it('that is under way says how far it is', async () => {
      const { underWay } = lifecycle();
      serve('toys_contents_v1_a');
      expect(await underWay(contents)).to.equal(undefined);
      leases.taken.add(LEASE);
      expect(await underWay(contents)).to.deep.equal({ position: 0n, until: 100n });
      builds.collections.set('toys_contents_v1_b', []);
      save('toys_contents_v1_b', 40n);
      expect(await underWay(contents)).to.deep.equal({ position: 40n, until: 100n });
    });

    describe('that is only to compare', () => {
      const row = (_id: string, value: number, at = 1n): Row => ({ _id, value, _at: Long.fromBigInt(at) });
      let looks: number;
      /** The live rows, by the time that they are looked at; the rebuilt are all as the last one says. */
      const compared = (live: readonly (readonly Row[])[], rebuilt: readonly Row[], meanwhile = () => {}) => {
        looks = 0;
        async function* scan(_: unknown, name: string) {
          meanwhile();
          yield* name.includes('check') ? rebuilt : (live[looks++] ?? live.at(-1)!);
        }
        const withRows: Builds = { ...builds.builds, scan };
        return lifecycle({ builds: withRows }).check(contents, { signal: stop.signal });
      };

      it('finds nothing where nothing is served, or nothing differs, and leaves nothing behind', async () => {
        expect(await lifecycle().check(contents, { signal: stop.signal })).to.deep.equal([]);
        serve('toys_contents_v1_a');
        builds.collections.set('toys_contents_check_left', []);
        const rows = [row('a', 1), row('b', 2)];
        expect(await compared([rows], rows)).to.deep.equal([]);
        expect(asked).to.have.length(1);
        expect([...builds.collections.keys()]).to.deep.equal(['toys_contents_v1_a']);
        expect(builds.state.dropped).to.deep.equal(['toys_contents_check_left', 'toys_contents_check_run1']);
        expect([...checkpoints.kept.keys(), leases.held.size]).to.deep.equal([0]);
      });

      it('looks again at what differs, and takes what has caught up by then for no difference', async () => {
        serve('toys_contents_v1_a');
        const rebuilt = [row('a', 1, 100n), row('b', 2)];
        for (const live of [
          [row('a', 0, 100n), row('b', 2)],
          [row('b', 2)],
          [...rebuilt, row('c', 1, 100n)],
        ]) {
          const before = asked.length;
          expect(await compared([live, rebuilt], rebuilt)).to.deep.equal([]);
          // A build of its own each time, and no further than the head of the log.
          expect(asked.length - before).to.equal(1);
          expect(looks).to.equal(2);
        }
        const others = [row('a', 1, 100n), row('b', 0)];
        expect(await compared([[row('b', 2)], others, rebuilt], rebuilt)).to.deep.equal([]);
        expect(looks).to.equal(2);
      });

      it('leaves out what events have touched that came after it looked, in the order of bytes', async () => {
        serve('toys_contents_v1_a');
        const live = [row('Z', 1, 101n), row('a', 7, 101n), row('b', 2, 100n), row('ä', 1, 102n)];
        const rebuilt = [row('a', 1), row('b', 2, 100n), row('new', 1, 101n)];
        const grow = () => {
          head = 102n;
        };
        expect(await compared([live], rebuilt, grow)).to.deep.equal([]);
        expect(looks).to.equal(1);
      });

      it('finds what is of events that the log does not have', async () => {
        serve('toys_contents_v1_a');
        const live = [row('a', 1, 101n), row('b', 2, 99n), row('c', 3, 102n)];
        const differences = await compared([live], [row('b', 2, 99n)]);
        const problem = 'ahead of the log';
        expect(differences).to.deep.equal([
          { id: 'a', problem },
          { id: 'c', problem },
        ]);
      });

      it('says how far it is', async () => {
        serve('toys_contents_v1_a');
        put(10n);
        const told: unknown[] = [];
        const onProgress = (...each: unknown[]) => void told.push(each);
        await lifecycle().check(contents, { signal: stop.signal, onProgress });
        expect(told).to.deep.equal([
          [{ events: 1, position: 10n }, 100n],
          [{ events: 1, position: 100n }, 100n],
        ]);
      });

      it('leaves nothing behind when it is stopped', async () => {
        serve('toys_contents_v1_a');
        const check = lifecycle({ head: async () => Promise.reject(new Error('the log is away')) });
        expect(await rejection(check.check(contents, { signal: stop.signal }))).to.have.property(
          'message',
          'the log is away',
        );
        expect(builds.state.dropped).to.deep.equal(['toys_contents_check_run1']);
        expect(leases.held.size).to.equal(0);
      });
    });
  });
});
