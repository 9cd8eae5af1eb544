/** Parts of the record index: days if their hours are counted, else scattered records. */
import { expect } from 'chai';
import { DAY_MS, HOUR_MS } from '../../../../domain/logs/timestamp.js';
import { countedHours, hourOf } from '../../../../projections/logs/index/hourly-counts.js';
import { isPartWithin, kindOf, partOf } from '../../../../projections/logs/index/rows.js';
import { NOON } from '../../../domain/logs/arbitrary.js';

describe('the parts of the record index', () => {
  const midnight = NOON - (NOON % DAY_MS);

  it('are one per day, separate for audit records', () => {
    for (const [audit, day, next, kind] of [
      [false, 'd20261121', 'd20261122', 'day'],
      [true, 'a20261121', 'a20261122', 'audit'],
    ] as const) {
      for (const instant of [midnight, NOON, midnight + DAY_MS - 1]) expect(partOf(instant, true, audit)).to.equal(day);
      expect(partOf(midnight + DAY_MS, true, audit)).to.equal(next);
      expect(kindOf(day)).to.equal(kind);
      expect(isPartWithin(day, '20261121', '20261121')).to.equal(true);
      expect(isPartWithin(day, '20261122', '20261123')).to.equal(false);
      expect(isPartWithin(day, '20261119', '20261120')).to.equal(false);
    }
  });

  it('are shared by all hours without counts', () => {
    for (const [audit, part] of [
      [false, 'dscattered'],
      [true, 'ascattered'],
    ] as const) {
      expect(partOf(NOON, false, audit)).to.equal(part);
      expect(kindOf(part)).to.equal('scattered');
      expect(isPartWithin(part, '20261121', '20261121')).to.equal(true);
    }
  });

  it('count the hours within 45 days of the receipt', () => {
    const days = [-46, -45, 0, 45, 46].map((each) => NOON + each * DAY_MS);
    const near = days.slice(1, 4).map(hourOf);
    for (const receivedAt of [midnight, NOON, midnight + DAY_MS - 1])
      expect([...countedHours(days, receivedAt)]).to.deep.equal(near);
  });

  it('count at most 240 hours per event: those with most records, then the newest', () => {
    const hours = (count: number) => Array.from({ length: count }, (_, nth) => hourOf(NOON) - nth * HOUR_MS);
    expect([...countedHours(hours(240), NOON)]).to.deep.equal(hours(240));
    const all = hours(300);
    const full = all.slice(-10);
    const mostRecords = countedHours([...all, ...full.map((hour) => hour + 1)], NOON);
    expect([...mostRecords].toSorted()).to.deep.equal([...full, ...all.slice(0, 230)].toSorted());
  });
});
