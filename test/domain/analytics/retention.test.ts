/** Retention of days: they expire once and never return. */
import { retention } from '../../../domain/analytics/retention.js';
import { specOf } from '../../support/decider-spec.js';

const { given } = specOf(retention);
const raw = (rows: number) => ({ before: 500, rows });
const expire = (before: string, rows = 3, rawRows = 0) =>
  ({ type: 'ExpireDays', before, rows, raw: raw(rawRows), now: 1000 }) as const;
const expired = (before: string, since: string) =>
  ({ type: 'DaysExpired', data: { before, since, rows: 3, expiredAt: 1000 } }) as const;

describe('the retention of days', () => {
  it('expires days before a date', () => given().when(expire('2026-10-22')).then(expired('2026-10-22', '')));

  it('expires further days and records the previous date', () => {
    given(expired('2026-10-22', '')).when(expire('2026-10-23')).then(expired('2026-10-23', '2026-10-22'));
  });

  it('expires nothing twice, and restores nothing when retention is extended', () => {
    given(expired('2026-10-22', '')).when(expire('2026-10-22', 0)).thenNothing();
    given(expired('2026-10-22', '')).when(expire('2026-01-01')).thenNothing();
  });

  it('expires late data of expired days', () => {
    given(expired('2026-10-22', '')).when(expire('2026-10-22')).then(expired('2026-10-22', '2026-10-22'));
  });

  it('expires raw hits, with days or alone', () => {
    const rawExpired = { type: 'RawExpired', data: { before: 500, rows: 7, expiredAt: 1000 } } as const;
    given()
      .when(expire('2026-10-22', 3, 7))
      .then(expired('2026-10-22', ''), rawExpired);
    given(expired('2026-10-22', ''), rawExpired)
      .when(expire('2026-10-22', 0, 7))
      .then(rawExpired);
    given(expired('2026-10-22', ''), rawExpired)
      .when(expire('2026-10-22', 0, 0))
      .thenNothing();
  });
});
