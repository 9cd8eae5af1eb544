/** Reports over many days yield to the event loop while they are computed. */
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
    days: { read, readCombinations: async () => undefined, countDays: async () => 0, countBefore: async () => 0 },
    projectionProgress: {
      latestOf: () => 0n,
      latest: () => 0n,
      position: () => 0n,
      wait: async () => true,
    } as unknown as ProjectionProgress,
    clock: { now: () => NOW },
  });

describe('the comparison period of a report', () => {
  const isComplete = async (firstDay: string | undefined, of: Parameters<typeof reportsOf>[1]) => {
    const { lists, names } = talliesOf(new Map());
    const reports = reportsOf(async () => ({ summaries: new Map(), firstDay, lists, names }), of);
    // The report covers 2026-11-16 to 2026-11-22, so the comparison period begins on 2026-11-09.
    const outcome = await reports('demo', { days: 7 });
    if (isRejection(outcome)) throw new Error(outcome.rejected);
    const { previous, delta } = outcome.body.comparison;
    expect(delta.pageviews).to.equal(previous.complete ? 0 : null);
    return previous.complete;
  };

  it('is complete if the site existed on all of its days, even without visits', async () => {
    expect(await isComplete(undefined, { madeAgo: 13 })).to.equal(true);
    expect(await isComplete('2026-11-20', { madeAgo: 13 })).to.equal(true);
    expect(await isComplete(undefined, { madeAgo: 12 })).to.equal(false);
  });

  it('is complete if imported data begins before it', async () => {
    expect(await isComplete('2026-11-09', { madeAgo: 0 })).to.equal(true);
    expect(await isComplete('2026-11-10', { madeAgo: 0 })).to.equal(false);
  });

  it('is incomplete if some of its days are beyond retention', async () => {
    expect(await isComplete(undefined, { madeAgo: 500, before: '2026-11-09' })).to.equal(true);
    expect(await isComplete(undefined, { madeAgo: 500, before: '2026-11-10' })).to.equal(false);
    expect(await isComplete(undefined, { madeAgo: 500, retentionDays: 13 })).to.equal(true);
    expect(await isComplete(undefined, { madeAgo: 500, retentionDays: 12 })).to.equal(false);
  });
});

describe('a report of a year', () => {
  it('yields to the event loop while it is computed', async () => {
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
    const outcome = await reports('demo', { days: 365 }).finally(() => {
      isDone = true;
    });
    if (isRejection(outcome)) throw new Error(outcome.rejected);
    const { pages, campaigns } = outcome.body;
    // Days 0 to 14 of the 50 occur once more than the others.
    expect(pages.slice(0, 2)).to.deep.equal([
      { name: '["0","999",""]', count: 8000 },
      { name: '["1","999",""]', count: 8000 },
    ]);
    expect(campaigns).to.have.lengthOf(20);
    expect(rounds).to.be.greaterThan(2);
  });

  it('limits concurrent long reports without delaying short ones', async () => {
    const { lists, names } = talliesOf(new Map());
    const running: (() => void)[] = [];
    let [reads, most] = [0, 0];
    const reports = reportsOf(async (_, __, { start, end }) => {
      if (Date.parse(end) - Date.parse(start) > 100 * 86_400_000) {
        reads++;
        await new Promise<void>((resolve) => {
          most = Math.max(most, running.push(resolve));
        });
      }
      return { summaries: new Map(), firstDay: undefined, lists, names };
    });
    const long = Promise.all(Array.from({ length: 7 }, () => reports('demo', { days: 365 })));
    await eventually(() => running.length >= 2);
    expect(isRejection(await reports('demo', { days: 30 }))).to.equal(false);
    while (reads < 7 || running.length > 0) {
      await eventually(() => running.length > 0 || reads === 7);
      running.shift()?.();
    }
    expect((await long).some(isRejection)).to.equal(false);
    expect(most).to.equal(2);
  });
});
