/** The rules of the projector's loop: what it writes where, what it says and saves, and when it stops. */
import { expect } from 'chai';
import type { Position } from '../../application/ports.js';
import { RETIRE_AFTER_MS } from '../../projections/catch-up.js';
import type { ReadModel } from '../../projections/projection.js';
import { createServed } from '../../projections/served.js';
import { type Projector, runProjector } from '../../projections/subscription.js';
import { eventually } from '../support/condition.js';
import { heldTime } from '../support/held-time.js';
import { holdTimers } from '../support/held-timers.js';
import { buildsInMemory, checkpointsInMemory, eventAt, feed, leasesInMemory } from '../support/ports.js';
import { contents } from '../support/toys.js';

const LEASE = 'projector:toys';
const shelf = { ...contents, name: 'toys.shelf' };

describe('the projector', () => {
  let log: ReturnType<typeof feed>;
  let builds: ReturnType<typeof buildsInMemory>;
  let checkpoints: ReturnType<typeof checkpointsInMemory>;
  let leases: ReturnType<typeof leasesInMemory>;
  let served: ReturnType<typeof createServed>;
  let lines: { level: string; message: string; [field: string]: unknown }[];
  let reached: [string, Position][];
  let wanted: [string, number][];
  let stop: AbortController;
  let running: Projector[];

  beforeEach(() => {
    [log, builds, checkpoints, leases] = [feed(), buildsInMemory(), checkpointsInMemory(), leasesInMemory()];
    [served, stop] = [createServed(), new AbortController()];
    [lines, reached, wanted, running] = [[], [], [], []];
    serve('toys_contents_v1_b');
    serve('toys_shelf_v1_b', shelf);
  });
  afterEach(async () => {
    stop.abort();
    await Promise.all(running.map(({ stopped }) => stopped));
  });

  const serve = (collection: string, { name, version } = contents, revision = 0) =>
    served.adopt({ projection: name, version, collection, revision });
  const say = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, message, ...fields });
  const project = (projections: readonly ReadModel[] = [contents]) => {
    const projector = runProjector({
      group: { name: 'toys', service: 'toys', projections },
      follow: log.follow,
      builds: builds.builds,
      checkpoints: checkpoints.checkpoints,
      leases: leases.leases,
      served,
      head: async () => 1000n,
      reached: (projection, position) => void reached.push([projection, position]),
      untilWanted: async (names, ms) => void wanted.push([names.join(), ms]),
      logger: { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') },
      signal: stop.signal,
    });
    running.push(projector);
    return projector;
  };
  const rows = (name = 'toys_contents_v1_b') => builds.collections.get(name) ?? [];
  const saved = (name = 'toys_contents_v1_b') => checkpoints.kept.get(name)?.position;
  const begun = (times = 1) => eventually(() => log.asked.length >= times);
  const wrote = (...positions: readonly bigint[]) =>
    eventually(() => positions.every((each) => rows().includes(each)));
  const said = (message: string) => eventually(() => lines.find((line) => line.message === message));

  it('begins at the start where nothing was written, and says nothing is reached', async () => {
    const projector = project();
    expect(projector.status()).to.include({ status: 'standby', position: 0n });
    await begun();
    expect(log.asked[0]).to.deep.include({ prefixes: ['toys.'], from: 'start' });
    expect(log.asked[0]).not.to.have.property('atOnce');
    expect([reached, projector.status().status]).to.deep.equal([[], 'catching-up']);
  });

  it('writes what comes, says how far it is, and is live from the head of the log on', async () => {
    const projector = project();
    await begun();
    log.give([eventAt(10n), eventAt(20n)]);
    await eventually(() => reached.length === 1);
    expect(rows()).to.deep.equal([10n, 20n]);
    expect(projector.status()).to.include({ status: 'catching-up', position: 20n });
    expect(projector.status().lagMs).to.equal(0);
    expect(wanted).to.deep.equal([]);
    log.give([], { position: 30n, caughtUp: true });
    await eventually(() => wanted.length === 1);
    expect(projector.status()).to.deep.equal({ status: 'live', position: 30n, lagMs: 0 });
    // Nothing is known of how far that is.
    log.give([], { caughtUp: true });
    log.give([eventAt(40n)]);
    await eventually(() => reached.length === 3);
    expect(projector.status().status).to.equal('live');
    expect(reached).to.deep.equal([
      ['toys.contents', 20n],
      ['toys.contents', 30n],
      ['toys.contents', 40n],
    ]);
    expect(wanted).to.deep.equal([
      ['toys.contents', 20],
      ['toys.contents', 20],
    ]);
  });

  it('tells of each of its models as soon as that is there, though another one takes long', async () => {
    let done = () => {};
    const taking = new Promise<void>((resolve) => {
      done = resolve;
    });
    builds.held.set('toys_shelf_v1_b', taking);
    project([contents, shelf]);
    await begun();
    log.give([eventAt(10n)]);
    await eventually(() => reached.length === 1);
    expect(reached).to.deep.equal([['toys.contents', 10n]]);
    done();
    await eventually(() => reached.length === 2);
    expect(reached[1]).to.deep.equal(['toys.shelf', 10n]);
  });

  it('says how old what it is at is, while it has not caught up', async () => {
    const projector = project();
    await begun();
    const anHourAgo = Date.now() - 3_600_000;
    log.give([{ ...eventAt(10n), recordedAt: anHourAgo }]);
    await eventually(() => reached.length === 1);
    expect(projector.status().lagMs).to.be.at.least(3_600_000);
    log.give([], { position: 20n });
    await eventually(() => reached.length === 2);
    expect(projector.status().lagMs).to.be.at.least(3_600_000);
  });

  it('begins behind the checkpoint that is furthest back, gives nobody twice, and tells at once', async () => {
    checkpoints.kept.set('toys_contents_v1_b', { position: 50n, lease: 'build:toys', fence: 0n });
    checkpoints.kept.set('toys_shelf_v1_b', { position: 30n, lease: 'build:toys', fence: 0n });
    project([contents, shelf]);
    await begun();
    expect(log.asked[0]?.from).to.equal(30n);
    expect(reached).to.deep.equal([
      ['toys.contents', 50n],
      ['toys.shelf', 30n],
    ]);
    log.give([eventAt(40n), eventAt(50n), eventAt(60n)]);
    await wrote(60n);
    expect([rows(), rows('toys_shelf_v1_b')]).to.deep.equal([[60n], [40n, 50n, 60n]]);
  });

  it('asks for as few events at once as its models can take', async () => {
    const large = {
      name: 'toys.shelf',
      version: 1,
      atOnce: 7,
      open: async () => async () => {},
    } as unknown as ReadModel;
    project([contents, large]);
    await begun();
    expect(log.asked[0]?.atOnce).to.equal(7);
  });

  it('saves how far it is beside its work, and when it ends, under the fence of its lease', async () => {
    const projector = project([contents, shelf]);
    await begun();
    log.give([eventAt(10n)]);
    await eventually(() => saved() === 10n && saved('toys_shelf_v1_b') === 10n);
    expect(checkpoints.kept.get('toys_contents_v1_b')?.fence).to.equal(1n);
    const { saves } = checkpoints.state;
    log.give([eventAt(20n)]);
    await wrote(20n);
    stop.abort();
    await projector.stopped;
    expect([saved(), saved('toys_shelf_v1_b')]).to.deep.equal([20n, 20n]);
    expect(checkpoints.state.saves).to.be.greaterThan(saves);
    expect([leases.held.size, leases.state.released]).to.deep.equal([0, 1]);
  });

  it('tries again to save, and says so, while MongoDB is away', async () => {
    checkpoints.state.failure = new Error('MongoDB does not answer');
    project();
    await begun();
    log.give([eventAt(10n)]);
    const warning = await said('checkpoint not saved, trying again');
    expect([warning.level, warning.group, warning.err]).to.deep.equal([
      'warn',
      'toys',
      checkpoints.state.failure,
    ]);
    expect(saved()).to.equal(undefined);
    checkpoints.state.failure = undefined;
    await eventually(() => saved() === 10n);
    expect(log.asked).to.have.length(1);
  });

  it('stops when a newer leader has moved the checkpoint, and begins where that one is', async () => {
    project();
    await begun();
    checkpoints.kept.set('toys_contents_v1_b', { position: 70n, lease: 'projector:toys', fence: 1000n });
    leases.state.fence = 2000n;
    log.give([eventAt(10n)]);
    await begun(2);
    expect(log.asked[0]?.signal.aborted).to.equal(true);
    expect([log.asked[1]?.from, saved()]).to.deep.equal([70n, 70n]);
    expect(leases.state.released).to.equal(1);
  });

  it('stops when it loses its lease, and waits for another turn', async () => {
    const projector = project();
    await begun();
    log.give([], { position: 5n, caughtUp: true });
    await eventually(() => projector.status().status === 'live');
    leases.taken.add(LEASE);
    leases.lose(LEASE);
    await eventually(() => projector.status().status === 'standby');
    expect(log.asked[0]?.signal.aborted).to.equal(true);
    leases.taken.clear();
    await begun(2);
    expect(log.asked[1]?.from).to.equal(5n);
  });

  it('tries an event that fails again for ever, loudly and ever less often, and then is what it was before', async () => {
    const projector = project();
    await begun();
    log.give([], { position: 5n, caughtUp: true });
    await eventually(() => projector.status().status === 'live');
    builds.state.failure = new Error('a row is too large');
    log.give([eventAt(10n)]);
    await eventually(() => lines.length === 3);
    expect(projector.status()).to.include({ status: 'failing', position: 5n });
    expect(lines.map(({ level, message, after, retryMs }) => [level, message, after, retryMs])).to.deep.equal(
      [
        ['error', 'projecting failed', '5', 100],
        ['error', 'projecting failed', '5', 200],
        ['error', 'projecting failed', '5', 400],
      ],
    );
    expect(lines[0]?.err).to.equal(builds.state.failure);
    builds.state.failure = undefined;
    await eventually(() => projector.status().status === 'live');
    expect(rows()).to.deep.equal([10n]);
    expect(log.asked).to.have.length(1);
  });

  it('does not try on when it has been stopped', async () => {
    const projector = project();
    await begun();
    builds.state.failure = new Error('MongoDB does not answer');
    log.give([eventAt(10n)]);
    await said('projecting failed');
    stop.abort();
    await projector.stopped;
    expect(lines.some(({ message }) => message === 'projector stopped, starting again')).to.equal(false);
    expect([rows(), saved()]).to.deep.equal([[], undefined]);
  });

  it('says why it could not begin, gives its lease back, and tries again', async () => {
    const unknown = { ...contents, name: 'toys.unknown' };
    project([unknown]);
    const { err } = await said('projector stopped, starting again');
    expect((err as Error).message).to.equal('nothing is served of toys.unknown');
    await eventually(() => leases.held.size === 0);
    serve('toys_unknown_v1_b', unknown);
    await begun();
  });

  describe('that meets a switch', () => {
    const next = 'toys_contents_v1_c';
    const switched = (position: bigint, revision: number, collection = next, { name, version } = contents) =>
      eventAt(position, 'ProjectionSwitched', { projection: name, version, collection }, revision);

    it('goes over to the new build in the order of the log, once that holds all that was before', async () => {
      checkpoints.kept.set(next, { position: 20n, lease: 'build:toys', fence: 0n });
      project([contents, shelf]);
      await begun();
      log.give([eventAt(10n), switched(20n, 1), eventAt(30n), eventAt(40n)]);
      await eventually(() => rows(next).length === 2);
      expect([rows(), rows(next)]).to.deep.equal([
        [10n, 20n],
        [30n, 40n],
      ]);
      expect(rows('toys_shelf_v1_b')).to.deep.equal([10n, 20n, 30n, 40n]);
      expect(served.known(contents.name)).to.deep.include({ collection: next, revision: 1 });
      await eventually(() => saved(next) === 40n);
      expect(saved()).to.equal(undefined);
      expect(lines.find(({ message }) => message === 'projection switched')).to.deep.include({
        projection: contents.name,
        collection: next,
        old: 'toys_contents_v1_b',
      });
      // The same switch again is history.
      log.give([switched(50n, 1, 'toys_contents_v1_b'), eventAt(60n)]);
      await eventually(() => rows(next).length === 4);
      expect(served.collection(contents.name)).to.equal(next);
    });

    it('finishes the build itself when its builder has died', async () => {
      checkpoints.kept.set(next, { position: 15n, lease: 'build:toys', fence: 0n });
      project();
      await begun();
      log.give([switched(20n, 1), eventAt(30n)]);
      await begun(2);
      expect(log.asked[1]).to.deep.include({ prefixes: ['toys.'], from: 15n });
      expect(leases.held.has(`build:${contents.name}`)).to.equal(true);
      log.give([eventAt(17n)]);
      log.give([], { position: 20n, caughtUp: true });
      await eventually(() => rows(next).includes(30n));
      expect(rows(next)).to.deep.equal([17n, 30n]);
      expect(leases.held.has(`build:${contents.name}`)).to.equal(false);
    });

    it('stays where it is when the switch is to another version, of another model, or history', async () => {
      serve('toys_contents_v1_d', contents, 5);
      project([contents, shelf]);
      await begun();
      const newer = { ...contents, version: 2 };
      log.give([
        switched(10n, 6, 'toys_contents_v2_a', newer),
        switched(20n, 6, 'toys_other_v1_a', { ...contents, name: 'toys.other' }),
        switched(30n, 5),
        switched(40n, 4),
        eventAt(50n, 'Unrelated', { projection: contents.name, version: 1, collection: next }, 9),
      ]);
      await eventually(() => rows('toys_contents_v1_d').length === 5);
      expect(served.known(contents.name)).to.deep.include({ collection: 'toys_contents_v1_d', revision: 5 });
    });
  });

  describe('that begins', () => {
    const present = 'toys_contents_v1_b';
    const exist = (...names: readonly string[]) => {
      for (const name of names) builds.collections.set(name, []);
    };

    it('drops what was served before and what never came to a checkpoint, and keeps what is unfinished', async () => {
      exist(
        present,
        'toys_contents_v1_a',
        'toys_contents_v1_c',
        'toys_contents_v2_d',
        'toys_contents_v1_old',
      );
      exist('toys_contentsx_v1_a', 'toys_shelf_v1_a');
      checkpoints.kept.set('toys_contents_v1_a', { position: 5n, lease: 'build:toys', fence: 0n });
      checkpoints.kept.set('toys_contents_v1_c', { position: 5n, lease: 'build:toys', fence: 0n });
      checkpoints.kept.set('toys_contents_v2_d', { position: 5n, lease: 'build:toys', fence: 0n });
      project();
      await begun();
      expect(builds.state.dropped).to.have.members(['toys_contents_v1_a', 'toys_contents_v1_old']);
      expect(builds.state.listed).to.deep.equal(['toys_contents_v']);
      expect(
        lines.map(({ message, collection, projection }) => [message, collection, projection]),
      ).to.deep.include(['retired build dropped', 'toys_contents_v1_a', contents.name]);
    });

    it('drops of a model that somebody builds what was served before, which the builder waits for, and no more', async () => {
      exist(present, 'toys_contents_v1_a', 'toys_contents_v1_c', 'toys_shelf_v1_a');
      leases.taken.add(`build:${contents.name}`);
      project([contents, shelf]);
      await begun();
      expect(builds.state.dropped).to.deep.equal(['toys_contents_v1_a', 'toys_shelf_v1_a']);
    });

    it('drops later what seemed to be built when it began, unless another one leads then', async () => {
      for (const leads of [true, false]) {
        const left = `toys_contents_v1_${leads ? 'c' : 'd'}`;
        const time = heldTime();
        const realTimers = holdTimers(time);
        try {
          exist(present, left);
          leases.taken.add(`build:${contents.name}`);
          const before = log.asked.length;
          project();
          await eventually(() => log.asked.length > before);
          leases.taken.delete(`build:${contents.name}`);
          expect(builds.state.dropped).not.to.include(left);
          if (!leads) stop.abort();
          time.pass(RETIRE_AFTER_MS);
          if (leads) await eventually(() => builds.state.dropped.includes(left));
          else await new Promise(setImmediate);
          expect(builds.state.dropped.includes(left)).to.equal(leads);
          stop.abort();
          time.pass(RETIRE_AFTER_MS);
          await Promise.all(running.map(({ stopped }) => stopped));
          stop = new AbortController();
        } finally {
          realTimers();
        }
      }
    });
  });
});
