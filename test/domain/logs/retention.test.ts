/** Retention of log records: each expiry is recorded once and never undone. */
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

describe('retention of logs', () => {
  it('expires records before a day and erases the given buckets', () => {
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

  it('erases buckets before the expiry is recorded, and not afterwards', () => {
    const erase = { ...expire(9 * DAY, 3 * DAY, ended), type: 'EraseBatches' as const };
    given().when(erase).then({ type: 'BatchesErased', data: ended[0]! });
    given(expired(9 * DAY, 3 * DAY))
      .when(erase)
      .thenNothing();
  });

  it('is recorded once', () =>
    given(expired(9 * DAY, 3 * DAY), { type: 'BatchesErased', data: ended[0]! })
      .when(expire(9 * DAY, 3 * DAY, ended))
      .thenNothing());

  it('never restores expired records when retention is extended', () => {
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
