/** Partitions of the record index: by day if their hours are counted, else together. */
import { expect } from 'chai';
import { DAY_MS, HOUR_MS } from '../../../../domain/logs/timestamp.js';
import {
  BUCKETS,
  countedHours,
  HOURS,
  hourOf,
  parsePartition,
  partitionOf,
  SCATTERED_PARTS,
} from '../../../../projections/logs/index/partitions.js';
import { NOON } from '../../../domain/logs/arbitrary.js';

describe('the partitions of the record index', () => {
  const midnight = NOON - (NOON % DAY_MS);
  const counted = (instant: number) => new Set([hourOf(instant)]);

  it('are one per day, separate for audit records, and identified by name', () => {
    for (const audit of [false, true]) {
      const first = partitionOf(midnight, counted(midnight), audit);
      const last = midnight + DAY_MS - 1;
      expect(partitionOf(last, counted(last), audit)).to.equal(first);
      const common = { name: first, audit, outOfOrder: false };
      expect(parsePartition(first)).to.deep.equal({ ...common, from: midnight, to: last });
      expect(partitionOf(last + 1, counted(last + 1), audit)).not.to.equal(first);
    }
    expect(partitionOf(NOON, counted(NOON), true)).not.to.equal(partitionOf(NOON, counted(NOON), false));
  });

  it('are shared by all hours without counts', () => {
    const parts = [false, true].map((audit) => partitionOf(NOON, counted(NOON + HOUR_MS), audit));
    expect(parts).to.deep.equal(SCATTERED_PARTS);
    for (const [nth, name] of parts.entries())
      expect(parsePartition(name)).to.deep.equal({
        name,
        audit: nth === 1,
        outOfOrder: true,
        from: 0,
        to: Number.POSITIVE_INFINITY,
      });
  });

  it('do not include collections of other names', () => {
    const others = ['e20261121', 'd2026112', 'd202611211', 'xd20261121', 'dscattered1', 'd', ''];
    for (const name of [HOURS, BUCKETS, ...others]) expect(parsePartition(name), name).to.equal(undefined);
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
