/** The loop of the projector: writes, status, checkpoints, leases and retries. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import type { ReadModel } from '../../../projections/kernel/projection.js';
import { eventAt } from '../../support/memory-ports.js';
import { contents } from '../../support/toy-service.js';
import { shelf, useProjecting } from './memory-builds.js';

const LEASE = 'projector:toys';

describe('the projector', () => {
  const world = useProjecting();
  const { serve, project, rows, saved, begun, wrote, logged } = world;

  it('starts at the beginning without a checkpoint, and reports no progress yet', async () => {
    const projector = project();
    expect(projector.status()).to.include({ status: 'standby', position: 0n });
    await begun();
    expect(world.log.calls[0]).to.deep.include({ prefixes: ['toys.'], from: 'start' });
    expect(world.log.calls[0]).not.to.have.property('batchSize');
    expect([world.reached, projector.status().status]).to.deep.equal([[], 'catching-up']);
  });

  it('applies events, reports its position, and is live from the head of the log', async () => {
    const projector = project();
    await begun();
    world.log.give([eventAt(10n), eventAt(20n)]);
    await eventually(() => world.reached.length === 1);
    expect(rows()).to.deep.equal([10n, 20n]);
    expect(projector.status()).to.include({ status: 'catching-up', position: 20n });
    expect(world.wanted).to.deep.equal([]);
    world.log.give([], { position: 30n, caughtUp: true });
    await eventually(() => world.wanted.length === 1);
    expect(projector.status()).to.deep.equal({ status: 'live', position: 30n });
    // No position is known for this batch.
    world.log.give([], { caughtUp: true });
    world.log.give([eventAt(40n)]);
    await eventually(() => world.reached.length === 3);
    expect(projector.status().status).to.equal('live');
    expect(world.reached).to.deep.equal([
      ['toys.contents', 20n],
      ['toys.contents', 30n],
      ['toys.contents', 40n],
    ]);
    expect(world.wanted).to.deep.equal([
      ['toys.contents', 20],
      ['toys.contents', 20],
    ]);
  });

  it('reports each read model as soon as it has advanced, even if another one is slow', async () => {
    let done = () => {};
    const slowWrite = new Promise<void>((resolve) => {
      done = resolve;
    });
    world.builds.held.set('toys_shelf_v1_b', slowWrite);
    project([contents, shelf]);
    await begun();
    world.log.give([eventAt(10n)]);
    await eventually(() => world.reached.length === 1);
    expect(world.reached).to.deep.equal([['toys.contents', 10n]]);
    done();
    await eventually(() => world.reached.length === 2);
    expect(world.reached[1]).to.deep.equal(['toys.shelf', 10n]);
  });

  it('starts at the lowest checkpoint, applies no event twice, and reports positions immediately', async () => {
    world.checkpoints.stored.set('toys_contents_v1_b', { position: 50n, lease: 'build:toys', fence: 0n });
    world.checkpoints.stored.set('toys_shelf_v1_b', { position: 30n, lease: 'build:toys', fence: 0n });
    project([contents, shelf]);
    await begun();
    expect(world.log.calls[0]?.from).to.equal(30n);
    expect(world.reached).to.deep.equal([
      ['toys.contents', 50n],
      ['toys.shelf', 30n],
    ]);
    world.log.give([eventAt(40n), eventAt(50n), eventAt(60n)]);
    await wrote(60n);
    expect([rows(), rows('toys_shelf_v1_b')]).to.deep.equal([[60n], [40n, 50n, 60n]]);
  });

  it('reads batches of the size its models allow', async () => {
    const large = {
      name: 'toys.shelf',
      version: 1,
      batchSize: 7,
      open: async () => async () => {},
    } as unknown as ReadModel;
    project([contents, large]);
    await begun();
    expect(world.log.calls[0]?.batchSize).to.equal(7);
  });

  it('saves checkpoints while working and when it ends, with its fencing token', async () => {
    const projector = project([contents, shelf]);
    await begun();
    world.log.give([eventAt(10n)]);
    await eventually(() => saved() === 10n && saved('toys_shelf_v1_b') === 10n);
    expect(world.checkpoints.stored.get('toys_contents_v1_b')?.fence).to.equal(1n);
    const { saves } = world.checkpoints.state;
    world.log.give([eventAt(20n)]);
    await wrote(20n);
    world.stop.abort();
    await projector.stopped;
    expect([saved(), saved('toys_shelf_v1_b')]).to.deep.equal([20n, 20n]);
    expect(world.checkpoints.state.saves).to.be.greaterThan(saves);
    expect([world.leases.held.size, world.leases.state.released]).to.deep.equal([0, 1]);
  });

  it('retries saving with a warning while MongoDB is unavailable', async () => {
    world.checkpoints.state.failure = new Error('MongoDB does not answer');
    project();
    await begun();
    world.log.give([eventAt(10n)]);
    const warning = await logged('failed to save checkpoint; retrying');
    expect([warning.level, warning.group, warning.err]).to.deep.equal([
      'warn',
      'toys',
      world.checkpoints.state.failure,
    ]);
    expect(saved()).to.equal(undefined);
    world.checkpoints.state.failure = undefined;
    await eventually(() => saved() === 10n);
    expect(world.log.calls).to.have.length(1);
  });

  it('stops when a newer leader has saved a checkpoint, and continues from there', async () => {
    project();
    await begun();
    world.checkpoints.stored.set('toys_contents_v1_b', {
      position: 70n,
      lease: 'projector:toys',
      fence: 1000n,
    });
    world.leases.state.fence = 2000n;
    world.log.give([eventAt(10n)]);
    await begun(2);
    expect(world.log.calls[0]?.signal.aborted).to.equal(true);
    expect([world.log.calls[1]?.from, saved()]).to.deep.equal([70n, 70n]);
    expect(world.leases.state.released).to.equal(1);
  });

  it('stops when it loses its lease, and waits to lead again', async () => {
    const projector = project();
    await begun();
    world.log.give([], { position: 5n, caughtUp: true });
    await eventually(() => projector.status().status === 'live');
    world.leases.taken.add(LEASE);
    world.leases.lose(LEASE);
    await eventually(() => projector.status().status === 'standby');
    expect(world.log.calls[0]?.signal.aborted).to.equal(true);
    world.leases.taken.clear();
    await begun(2);
    expect(world.log.calls[1]?.from).to.equal(5n);
  });

  it('retries a failing event indefinitely with backoff and error logs, then returns to its former status', async () => {
    const projector = project();
    await begun();
    world.log.give([], { position: 5n, caughtUp: true });
    await eventually(() => projector.status().status === 'live');
    world.builds.state.failure = new Error('a row is too large');
    world.log.give([eventAt(10n)]);
    await eventually(() => world.lines.length === 3);
    expect(projector.status()).to.include({ status: 'failing', position: 5n });
    expect(world.lines.map(({ level, message, after, retryMs }) => [level, message, after, retryMs])).to.deep.equal([
      ['error', 'failed to apply events; retrying', '5', 100],
      ['error', 'failed to apply events; retrying', '5', 200],
      ['error', 'failed to apply events; retrying', '5', 400],
    ]);
    expect(world.lines[0]?.err).to.equal(world.builds.state.failure);
    world.builds.state.failure = undefined;
    await eventually(() => projector.status().status === 'live');
    expect(rows()).to.deep.equal([10n]);
    expect(world.log.calls).to.have.length(1);
  });

  it('does not retry after it was stopped', async () => {
    const projector = project();
    await begun();
    world.builds.state.failure = new Error('MongoDB does not answer');
    world.log.give([eventAt(10n)]);
    await logged('failed to apply events; retrying');
    world.stop.abort();
    await projector.stopped;
    expect(world.lines.some(({ message }) => message === 'projector stopped; restarting')).to.equal(false);
    expect([rows(), saved()]).to.deep.equal([[], undefined]);
  });

  it('logs why it could not start, releases its lease, and retries', async () => {
    const unknown = { ...contents, name: 'toys.unknown' };
    project([unknown]);
    const { err } = await logged('projector stopped; restarting');
    expect((err as Error).message).to.equal('toys.unknown has no active build');
    await eventually(() => world.leases.held.size === 0);
    serve('toys_unknown_v1_b', unknown);
    await begun();
  });
});
