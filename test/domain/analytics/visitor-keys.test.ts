/** Visitor days: opened while they last, ended once, and not reopened after their end. */
import { visitors } from '../../../domain/analytics/visitor-keys.js';
import { specOf } from '../../support/decider-spec.js';

const { given } = specOf(visitors);
const now = 1000;
const opened = (day: string) => ({ type: 'VisitorDayOpened', data: { day, openedAt: now } }) as const;
const ended = (day: string) => ({ type: 'VisitorDayEnded', data: { day, endedAt: now } }) as const;
const open = (day: string, before = day) => ({ type: 'OpenVisitorDay', day, before, now }) as const;
const end = (before: string) => ({ type: 'EndVisitorDays', before, now }) as const;

describe('a visitor day', () => {
  it('is opened by the first request', () => given().when(open('2026-11-22')).then(opened('2026-11-22')));

  it('is opened once for all nodes', () => given(opened('2026-11-22')).when(open('2026-11-22')).thenNothing());

  it('does not end before its date has passed', () =>
    given(opened('2026-11-22')).when(end('2026-11-22')).thenNothing());

  it('ends after its date has passed, with all earlier days', () => {
    given(opened('2026-11-21'), opened('2026-11-20'), opened('2026-11-23'))
      .when(end('2026-11-23'))
      .then(ended('2026-11-20'), ended('2026-11-21'));
  });

  it('ends once', () => {
    given(opened('2026-11-21'), ended('2026-11-21')).when(end('2026-11-23')).thenNothing();
  });

  it('cannot be opened after its date has passed', () => {
    for (const day of ['2026-11-21', '2026-11-20'])
      given(opened('2026-11-21'), ended('2026-11-21')).when(open(day, '2026-11-22')).thenRejected('analytics/day-over');
  });

  it('can be opened again if a clock that ran ahead ended it too early', () => {
    given(opened('2026-11-21'), opened('2027-11-21'), ended('2026-11-21'), ended('2027-11-21'))
      .when(open('2026-11-21'))
      .then(opened('2026-11-21'));
  });
});
