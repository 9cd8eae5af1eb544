/** Days whose visitors are told apart: open while they last, and never opened once they are over. */
import { visitors } from '../../../domain/analytics/visitor-keys.js';
import { specOf } from '../../support/decider-spec.js';

const { given } = specOf(visitors);
const now = 1000;
const opened = (day: string) => ({ type: 'VisitorDayOpened', data: { day, openedAt: now } }) as const;
const ended = (day: string) => ({ type: 'VisitorDayEnded', data: { day, endedAt: now } }) as const;
const open = (day: string, before = day) => ({ type: 'OpenVisitorDay', day, before, now }) as const;
const end = (before: string) => ({ type: 'EndVisitorDays', before, now }) as const;

describe('a day of visitors', () => {
  it('is opened', () => given().when(open('2026-11-22')).then(opened('2026-11-22')));

  it('is open for all nodes', () => given(opened('2026-11-22')).when(open('2026-11-22')).thenNothing());

  it('goes on while it lasts', () => given(opened('2026-11-22')).when(end('2026-11-22')).thenNothing());

  it('ends when it is over, with all that were not ended before', () => {
    given(opened('2026-11-21'), opened('2026-11-20'), opened('2026-11-23'))
      .when(end('2026-11-23'))
      .then(ended('2026-11-20'), ended('2026-11-21'));
  });

  it('ends once', () => {
    given(opened('2026-11-21'), ended('2026-11-21')).when(end('2026-11-23')).thenNothing();
  });

  it('is never opened once it is over, whether it was open before or not', () => {
    for (const day of ['2026-11-21', '2026-11-20'])
      given(opened('2026-11-21'), ended('2026-11-21')).when(open(day, '2026-11-22')).thenRejected('analytics/day-over');
  });

  it('is opened again while it lasts, where a clock that was ahead has ended it, and later ones too', () => {
    given(opened('2026-11-21'), opened('2027-11-21'), ended('2026-11-21'), ended('2027-11-21'))
      .when(open('2026-11-21'))
      .then(opened('2026-11-21'));
  });
});
