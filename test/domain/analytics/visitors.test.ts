/** Days whose visitors are told apart: opened once, ended when they are over, and never opened again. */
import { visitors } from '../../../domain/analytics/visitors.js';
import { specOf } from '../../support/decider-spec.js';

const { given } = specOf(visitors);
const now = 1000;
const opened = (day: string) => ({ type: 'VisitorDayOpened', data: { day, openedAt: now } }) as const;
const ended = (day: string) => ({ type: 'VisitorDayEnded', data: { day, endedAt: now } }) as const;
const open = (day: string) => ({ type: 'OpenVisitorDay', day, now }) as const;
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

  it('is never opened again, nor is one before it', () => {
    for (const day of ['2026-11-21', '2026-11-20'])
      given(opened('2026-11-21'), ended('2026-11-21')).when(open(day)).thenRejected('analytics/day-over');
  });
});
