/** Days that are no longer kept: they go once, and never come back. */
import { retention } from '../../../domain/analytics/retention.js';
import { specOf } from '../../support/decider-spec.js';

const { given } = specOf(retention);
const raw = (rows: number) => ({ before: 500, rows });
const expire = (before: string, rows = 3, rawRows = 0) =>
  ({ type: 'ExpireDays', before, rows, raw: raw(rawRows), now: 1000 }) as const;
const expired = (before: string, since: string) =>
  ({ type: 'DaysExpired', data: { before, since, rows: 3, expiredAt: 1000 } }) as const;

describe('the retention of days', () => {
  it('lets days go', () => given().when(expire('2026-10-22')).then(expired('2026-10-22', '')));

  it('lets the next go, and says which have gone already', () => {
    given(expired('2026-10-22', '')).when(expire('2026-10-23')).then(expired('2026-10-23', '2026-10-22'));
  });

  it('lets nothing go twice, and brings nothing back when more is kept', () => {
    given(expired('2026-10-22', '')).when(expire('2026-10-22', 0)).thenNothing();
    given(expired('2026-10-22', '')).when(expire('2026-01-01')).thenNothing();
  });

  it('lets go what came later of days that have gone', () => {
    given(expired('2026-10-22', '')).when(expire('2026-10-22')).then(expired('2026-10-22', '2026-10-22'));
  });

  it('lets raw records go where there are some, with the days or by themselves', () => {
    const gone = { type: 'RawExpired', data: { before: 500, rows: 7, expiredAt: 1000 } } as const;
    given()
      .when(expire('2026-10-22', 3, 7))
      .then(expired('2026-10-22', ''), gone);
    given(expired('2026-10-22', ''), gone)
      .when(expire('2026-10-22', 0, 7))
      .then(gone);
    given(expired('2026-10-22', ''), gone)
      .when(expire('2026-10-22', 0, 0))
      .thenNothing();
  });
});
