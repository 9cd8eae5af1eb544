/** Requests and events of the last hour. */
import { expect } from 'chai';
import { createActivity, SLICE_MS } from '../../../adapters/platform/observability/activity.js';
import { fakeClock } from '../../support/fake-clock.js';

describe('activity of a node', () => {
  const start = 1_800_000_000_000;

  it('has complete slices only, those without activity too', () => {
    const time = fakeClock(start);
    const activity = createActivity(time);
    expect(activity.list()).to.deep.equal([]);
    for (const [status, ms] of [
      [200, 1],
      [404, 3],
      [503, 30],
      [200, 7000],
    ] as const)
      activity.answered(status, ms);
    activity.appended(3);
    expect(activity.list()).to.deep.equal([]);
    time.pass(2 * SLICE_MS);
    expect(activity.list()).to.deep.equal([
      { at: start, requests: 4, failures: 1, events: 3, p95: 10_000 },
      { at: start + SLICE_MS, requests: 0, failures: 0, events: 0, p95: undefined },
    ]);
  });

  it('forgets what is older than an hour', () => {
    const time = fakeClock(start);
    const activity = createActivity(time);
    activity.appended(1);
    time.pass(3_600_000 - SLICE_MS);
    activity.appended(2);
    expect(activity.list()).to.have.length(359);
    time.pass(SLICE_MS);
    expect(activity.list().map(({ events }) => events)).to.deep.equal([2]);
    time.pass(3_600_000);
    activity.appended(4);
    expect(activity.list()).to.deep.equal([]);
  });
});
