/** The health of the index: behind for how long, and whether it stands still. */
import { expect } from 'chai';
import { createIndexHealth } from '../../../application/logs/health.js';

function fixture() {
  let [now, position] = [1_800_000_000_000, 0n];
  const projectionProgress = {
    position: (projection: string) => (projection === 'logs.records' ? position : 0n),
    wait: async (_: string, asked: bigint) => position >= asked,
    latest: () => 0n,
    latestOf: () => 0n,
  };
  const health = createIndexHealth({ projectionProgress, clock: { now: () => now } });
  return {
    health,
    pass: (ms: number) => {
      now += ms;
    },
    reach: (at: bigint) => {
      position = at;
    },
  };
}

describe('the index', () => {
  it('lags not at all where it has seen everything', async () => {
    const { health, reach, pass } = fixture();
    health.onEvent({ position: 5n });
    reach(5n);
    pass(60_000);
    expect(await health.state()).to.deep.equal({ position: '5', lag: 0, standsStill: false });
  });

  it('lags by how long the oldest event waits that it does not show', async () => {
    const { health, pass, reach } = fixture();
    health.onEvent({ position: 5n });
    pass(3000);
    health.onEvent({ position: 6n });
    pass(2000);
    expect(await health.state()).to.deep.equal({ position: '0', lag: 5000, standsStill: false });
    reach(6n);
    expect((await health.state()).lag).to.equal(0);
    pass(4000);
    health.onEvent({ position: 7n });
    health.onEvent({ position: 7n });
    health.onEvent({ position: 3n });
    pass(1000);
    expect(await health.state()).to.deep.equal({ position: '6', lag: 1000, standsStill: false });
  });

  it('stands still when it has not moved for more than 10 s while it is behind', async () => {
    const { health, pass, reach } = fixture();
    health.onEvent({ position: 5n });
    pass(10_000);
    expect(await health.state()).to.include({ lag: 10_000, standsStill: false });
    pass(1);
    expect(await health.state()).to.include({ lag: 10_001, standsStill: true });
    reach(1n);
    expect(await health.state(), 'it moves').to.include({ position: '1', lag: 10_001, standsStill: false });
    pass(10_000);
    expect(await health.state()).to.include({ standsStill: false });
    pass(1);
    expect(await health.state()).to.include({ lag: 20_002, standsStill: true });
    reach(5n);
    expect(await health.state()).to.deep.equal({ position: '5', lag: 0, standsStill: false });
  });

  it('does not stand still where only nothing has come for long', async () => {
    const { health, pass } = fixture();
    pass(60_000);
    health.onEvent({ position: 5n });
    pass(1000);
    expect(await health.state()).to.include({ lag: 1000, standsStill: false });
  });
});
