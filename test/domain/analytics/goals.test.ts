/** Goals of a report: their counts, and their rate by visitors. */
import { expect } from 'chai';
import { count, emptyDay, summaryOf } from '../../../domain/analytics/day.js';
import { buildReport, lastDays } from '../../../domain/analytics/report.js';
import { talliesOf } from '../../support/analytics-fixtures.js';

const NOW = Date.UTC(2026, 10, 22, 12);
const period = lastDays(3, NOW);

describe('goals of a report', () => {
  it('have a rate, also rare ones', () => {
    const counts = emptyDay();
    for (let n = 0; n < 30; n++) count(counts, [{ path: '/', event: `often ${n}` }], [], NOW);
    for (let n = 0; n < 30; n++) count(counts, [{ path: '/', event: `often ${n}` }], [], NOW);
    count(counts, [{ path: '/', event: 'rare' }], ['1', '2', '3'], NOW);
    const { lists, names } = talliesOf(new Map([['2026-11-22', counts]]));
    const goalsOf = (visitors: number) => {
      const steps = buildReport(period, {
        summaries: (day) => (day === '2026-11-22' ? { ...summaryOf(counts), uniques: visitors } : undefined),
        lists: (day) => lists.get(day),
        names,
        isPreviousComplete: true,
        goals: ['rare', 'often 1', 'never'],
      });
      for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value.goals;
    };
    expect(goalsOf(3)).to.deep.equal([
      { name: 'rare', count: 1, rate: 33.3 },
      { name: 'often 1', count: 2, rate: 66.7 },
      { name: 'never', count: 0, rate: 0 },
    ]);
    expect(goalsOf(0).map(({ rate }) => rate)).to.deep.equal([null, null, null]);
  });
});
