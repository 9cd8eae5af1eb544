/** The catch-up barrier waits until a read model has every event of its service. */
import { expect } from 'chai';
import { createCaughtUpBarrier } from '../../../application/consistency/index.js';
import { eventAt, feed } from '../../support/memory-ports.js';

describe('the catch-up barrier', () => {
  const { signal } = new AbortController();

  it('waits for the last event in the log, read from the checkpoint of the active build', async () => {
    const { follow, calls, give } = feed();
    const waited: bigint[] = [];
    const projectionProgress = { wait: async (_: string, position: bigint) => waited.push(position) > 2 };
    const build = () => 'toys_contents_v1';
    const checkpoints = { read: async (name: string) => (name === build() ? 10n : undefined) };
    give([eventAt(20n), eventAt(30n)]);
    give([], { position: 90n, caughtUp: true });
    await createCaughtUpBarrier('toys.contents', { follow, checkpoints, projectionProgress, build })(signal);
    expect(calls.map(({ from, ...selection }) => ['prefixes' in selection && selection.prefixes, from])).to.deep.equal([
      [['toys.'], 10n],
    ]);
    expect(waited).to.deep.equal([30n, 30n, 30n]);
  });

  it('fails if it is stopped before the subscription has caught up', async () => {
    const { follow, give } = feed();
    const projectionProgress = { wait: async () => true };
    const ports = { follow, projectionProgress, checkpoints: { read: async () => undefined }, build: () => undefined };
    const stop = new AbortController();
    give([eventAt(20n)], { caughtUp: false });
    const barrier = createCaughtUpBarrier('toys.contents', ports)(stop.signal).catch((error) => error);
    stop.abort(new Error('stopped'));
    expect(await barrier).to.have.property('message', 'stopped');
  });

  it('stops waiting when aborted', async () => {
    const { follow, give } = feed();
    const stop = new AbortController();
    const projectionProgress = {
      async wait() {
        stop.abort(new Error('stopped'));
        return false;
      },
    };
    const ports = { follow, projectionProgress, checkpoints: { read: async () => undefined }, build: () => undefined };
    give([eventAt(20n)], { caughtUp: true });
    const failure = await createCaughtUpBarrier('toys.contents', ports)(stop.signal).catch((error) => error);
    expect(failure).to.have.property('message', 'stopped');
  });
});
