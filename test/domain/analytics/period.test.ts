/** Report periods: whole UTC days, and the period they are compared with. */
import { expect } from 'chai';
import { lastDays, periodBetween, previousPeriod } from '../../../domain/analytics/report.js';

const NOW = Date.UTC(2026, 10, 22, 12);

describe('a report period', () => {
  it('covers a number of days including today, up to 730', () => {
    expect(lastDays(7, NOW)).to.deep.equal({ days: 7, start: '2026-11-16', end: '2026-11-22' });
    expect(lastDays(1, NOW)).to.deep.equal({ days: 1, start: '2026-11-22', end: '2026-11-22' });
    expect(lastDays(1000, NOW)).to.deep.equal({ days: 730, start: '2024-11-23', end: '2026-11-22' });
  });

  it('covers the days between two dates, and rejects invalid dates', () => {
    expect(periodBetween('2026-02-27', '2026-03-01')).to.deep.equal({
      days: 3,
      start: '2026-02-27',
      end: '2026-03-01',
    });
    for (const [start, end] of [
      ['2026-02-30', '2026-03-01'],
      ['2026-13-01', '2026-13-02'],
      ['2026-03-01', '2026-02-27'],
      ['2020-01-01', '2026-01-01'],
      ['1', '2'],
      ['2026-11-22T00', '2026-11-22'],
    ])
      expect(periodBetween(start!, end!), `${start} ${end}`).to.equal(undefined);
  });

  it('is compared with the period of equal length before it', () => {
    expect(previousPeriod(lastDays(7, NOW))).to.deep.equal({ days: 7, start: '2026-11-09', end: '2026-11-15' });
  });
});
