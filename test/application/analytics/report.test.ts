/** Reports of much: others are served while they are worked out. */
import { expect } from 'chai';
import type { Directory } from '../../../application/analytics/directory.js';
import { createReports, type DayReader } from '../../../application/analytics/report.js';
import type { Settled } from '../../../application/ports.js';
import { emptyDay, LISTS } from '../../../domain/analytics/day.js';
import { daysOf, lastDays } from '../../../domain/analytics/period.js';
import { isRejection } from '../../../domain/shared/decider.js';
import { talliesOf } from '../../support/analytics.js';
import { eventually } from '../../support/condition.js';

const NOW = Date.UTC(2026, 10, 22, 12);

const reportsOf = (read: DayReader['read']) =>
  createReports({
    directory: { find: async () => () => ({ instance: 'one' }) } as unknown as Directory,
    days: { read, countDays: async () => 0, countBefore: async () => 0 },
    settled: {
      latestOf: () => 0n,
      latest: () => 0n,
      position: () => 0n,
      wait: async () => true,
    } as unknown as Settled,
    clock: { now: () => NOW },
  });

describe('a report of a year', () => {
  it('is worked out in turns, however much was counted', async () => {
    const days = daysOf(lastDays(365, NOW));
    const kinds = new Map(Array.from({ length: 50 }, (_, kind) => [String(kind), emptyDay()]));
    for (const [kind, { lists }] of kinds)
      for (const list of LISTS)
        for (let n = 0; n < 1000; n++) lists[list].set(`["${kind}","${n}",""]`, n + 1);
    const { lists: ofKinds, names } = talliesOf(kinds);
    const lists = new Map(days.map((day, nth) => [day, ofKinds.get(String(nth % 50))!]));
    const reports = reportsOf(async () => ({ summaries: new Map(), lists, names }));
    let rounds = 0;
    let isDone = false;
    const others = () => {
      if (isDone) return;
      rounds++;
      setImmediate(others);
    };
    setImmediate(others);
    const told = await reports('demo', { days: 365 }).finally(() => {
      isDone = true;
    });
    if (isRejection(told)) throw new Error(told.rejected);
    const { pages, campaigns } = told.body;
    // On 15 of the 50 a day more.
    expect(pages.slice(0, 2)).to.deep.equal([
      { name: '["0","999",""]', count: 8000 },
      { name: '["1","999",""]', count: 8000 },
    ]);
    expect(campaigns).to.have.lengthOf(20);
    expect(rounds).to.be.greaterThan(2);
  });

  it('holds what was counted in memory with few others at a time, and lets short ones by', async () => {
    const { lists, names } = talliesOf(new Map());
    const inside: (() => void)[] = [];
    let [reads, most] = [0, 0];
    const reports = reportsOf(async (_, __, { start, end }) => {
      if (Date.parse(end) - Date.parse(start) > 100 * 86_400_000) {
        reads++;
        await new Promise<void>((resolve) => {
          most = Math.max(most, inside.push(resolve));
        });
      }
      return { summaries: new Map(), lists, names };
    });
    const long = Promise.all(Array.from({ length: 7 }, () => reports('demo', { days: 365 })));
    await eventually(() => inside.length >= 2);
    expect(isRejection(await reports('demo', { days: 30 }))).to.equal(false);
    while (reads < 7 || inside.length > 0) {
      await eventually(() => inside.length > 0 || reads === 7);
      inside.shift()?.();
    }
    expect((await long).some(isRejection)).to.equal(false);
    expect(most).to.equal(2);
  });
});
