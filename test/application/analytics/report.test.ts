/** Reports of much: others are served while they are worked out. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { createReports, type DayReader } from '../../../application/analytics/report.js';
import type { SiteDirectory } from '../../../application/analytics/sites.js';
import type { ProjectionProgress } from '../../../application/ports/index.js';
import { deserializeDay, emptyDay, LISTS, serializeDay } from '../../../domain/analytics/day.js';
import { daysOf, lastDays } from '../../../domain/analytics/report.js';
import { isRejection } from '../../../domain/shared/decider.js';
import { talliesOf } from '../../support/analytics-fixtures.js';

const NOW = Date.UTC(2026, 10, 22, 12);

const DAY_MS = 86_400_000;

const reportsOf = (read: DayReader['read'], { madeAgo = 0, before = '', retentionDays = 395 } = {}) =>
  createReports({
    directory: {
      find: async () => () => ({ instance: 'one', createdAt: NOW - madeAgo * DAY_MS }),
    } as unknown as SiteDirectory,
    retention: async () => ({ before }),
    retentionDays,
    days: { read, countDays: async () => 0, countBefore: async () => 0 },
    projectionProgress: {
      latestOf: () => 0n,
      latest: () => 0n,
      position: () => 0n,
      wait: async () => true,
    } as unknown as ProjectionProgress,
    clock: { now: () => NOW },
  });

describe('the period before', () => {
  const isComplete = async (firstDay: string | undefined, of: Parameters<typeof reportsOf>[1]) => {
    const { lists, names } = talliesOf(new Map());
    const reports = reportsOf(async () => ({ summaries: new Map(), firstDay, lists, names }), of);
    // Of 2026-11-16 to 2026-11-22, and so compared with what begins on 2026-11-09.
    const told = await reports('demo', { days: 7 });
    if (isRejection(told)) throw new Error(told.rejected);
    const { previous, delta } = told.body.comparison;
    expect(delta.pageviews).to.equal(previous.complete ? 0 : null);
    return previous.complete;
  };

  it('is complete where its site was there on all of its days, whether or not anybody came', async () => {
    expect(await isComplete(undefined, { madeAgo: 13 })).to.equal(true);
    expect(await isComplete('2026-11-20', { madeAgo: 13 })).to.equal(true);
    expect(await isComplete(undefined, { madeAgo: 12 })).to.equal(false);
  });

  it('is complete where what was imported begins before it', async () => {
    expect(await isComplete('2026-11-09', { madeAgo: 0 })).to.equal(true);
    expect(await isComplete('2026-11-10', { madeAgo: 0 })).to.equal(false);
  });

  it('is not where some of its days are no longer kept', async () => {
    expect(await isComplete(undefined, { madeAgo: 500, before: '2026-11-09' })).to.equal(true);
    expect(await isComplete(undefined, { madeAgo: 500, before: '2026-11-10' })).to.equal(false);
    expect(await isComplete(undefined, { madeAgo: 500, retentionDays: 13 })).to.equal(true);
    expect(await isComplete(undefined, { madeAgo: 500, retentionDays: 12 })).to.equal(false);
  });
});

describe('a report of a year', () => {
  it('is worked out in turns, however much was counted', async () => {
    const days = daysOf(lastDays(365, NOW));
    const kinds = new Map(
      Array.from({ length: 50 }, (_, kind) => {
        const list = Array.from({ length: 1000 }, (_, n) => [`["${kind}","${n}",""]`, n + 1] as const);
        const full = { ...serializeDay(emptyDay()), lists: Object.fromEntries(LISTS.map((of) => [of, list])) };
        return [String(kind), deserializeDay(full)];
      }),
    );
    const { lists: ofKinds, names } = talliesOf(kinds);
    const lists = new Map(days.map((day, nth) => [day, ofKinds.get(String(nth % 50))!]));
    const reports = reportsOf(async () => ({ summaries: new Map(), firstDay: undefined, lists, names }));
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
      return { summaries: new Map(), firstDay: undefined, lists, names };
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
