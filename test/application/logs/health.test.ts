/** Health of the log index: its lag, and whether it is stalled. */
import { expect } from 'chai';
import { createIndexHealth } from '../../../application/logs/health.js';

function fixture() {
  let [now, position] = [1_800_000_000_000, 0n];
  const projectionProgress = {
    position: (projection: string) => (projection === 'logs.records' ? position : 0n),
    wait: async (_: string, required: bigint) => position >= required,
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

describe('the health of the log index', () => {
  it('reports no lag when all events are indexed', async () => {
    const { health, reach, pass } = fixture();
    health.onEvent({ position: 5n });
    reach(5n);
    pass(60_000);
    expect(await health.state()).to.deep.equal({ position: '5', lag: 0, standsStill: false });
  });

  it('reports the age of the oldest event that is not indexed', async () => {
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

  it('reports a stalled index after more than 10 s without progress while it is behind', async () => {
    const { health, pass, reach } = fixture();
    health.onEvent({ position: 5n });
    pass(10_000);
    expect(await health.state()).to.include({ lag: 10_000, standsStill: false });
    pass(1);
    expect(await health.state()).to.include({ lag: 10_001, standsStill: true });
    reach(1n);
    expect(await health.state(), 'it progresses').to.include({ position: '1', lag: 10_001, standsStill: false });
    pass(10_000);
    expect(await health.state()).to.include({ standsStill: false });
    pass(1);
    expect(await health.state()).to.include({ lag: 20_002, standsStill: true });
    reach(5n);
    expect(await health.state()).to.deep.equal({ position: '5', lag: 0, standsStill: false });
  });

  it('does not count a quiet period as stalled', async () => {
    const { health, pass } = fixture();
    pass(60_000);
    health.onEvent({ position: 5n });
    pass(1000);
    expect(await health.state()).to.include({ lag: 1000, standsStill: false });
  });
});
