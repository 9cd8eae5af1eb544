/** What is no longer kept: told once, and never taken back. */
import { type ExpireRecords, retention } from '../../../domain/logs/retention.js';
import { specOf } from '../../support/decider-spec.js';

const { given } = specOf(retention);
const DAY = 86_400_000;
const ended = [{ producerId: 'api', day: '20261120', audit: false }];
const expire = (before: number, auditBefore: number, over: ExpireRecords['ended'] = []): ExpireRecords => ({
  type: 'ExpireRecords',
  before,
  auditBefore,
  ended: over,
});
const expired = (before: number, auditBefore: number) => ({
  type: 'RecordsExpired' as const,
  data: { before, auditBefore },
});

describe('retention', () => {
  it('ends what is of days before a day, and the keepings of these', () => {
    given()
      .when(expire(9 * DAY, 3 * DAY, ended))
      .then(expired(9 * DAY, 3 * DAY), { type: 'BatchesErased', data: ended[0]! });
    given(expired(9 * DAY, 3 * DAY))
      .when(expire(10 * DAY, 3 * DAY))
      .then(expired(10 * DAY, 3 * DAY));
    given(expired(9 * DAY, 3 * DAY))
      .when(expire(9 * DAY, 4 * DAY))
      .then(expired(9 * DAY, 4 * DAY));
  });

  it('ends keepings before it is told that records have expired, as long as that is not told', () => {
    const erase = { ...expire(9 * DAY, 3 * DAY, ended), type: 'EraseBatches' as const };
    given().when(erase).then({ type: 'BatchesErased', data: ended[0]! });
    given(expired(9 * DAY, 3 * DAY))
      .when(erase)
      .thenNothing();
  });

  it('is told once', () =>
    given(expired(9 * DAY, 3 * DAY), { type: 'BatchesErased', data: ended[0]! })
      .when(expire(9 * DAY, 3 * DAY, ended))
      .thenNothing());

  it('never brings back what has gone, when more is to be kept', () => {
    given(expired(9 * DAY, 3 * DAY))
      .when(expire(5 * DAY, 2 * DAY))
      .thenNothing();
    given(expired(9 * DAY, 3 * DAY))
      .when(expire(10 * DAY, 2 * DAY))
      .then(expired(10 * DAY, 3 * DAY));
    given(expired(9 * DAY, 3 * DAY))
      .when(expire(5 * DAY, 4 * DAY))
      .then(expired(9 * DAY, 4 * DAY));
  });
});
