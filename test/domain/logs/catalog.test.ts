/** The event catalog of log records: emitted events match their schemas, and stored versions stay readable. */
import { expect } from 'chai';
import { createBatches, createRequestBatches, recordTexts } from '../../../domain/logs/batch.js';
import { catalog } from '../../../domain/logs/catalog.js';
import { type RebuildCommand, rebuild } from '../../../domain/logs/reindex-job.js';
import { type ExpireRecords, retention } from '../../../domain/logs/retention.js';
import { bucketSubject } from '../../../domain/logs/retention-bucket.js';
import type { Catalog, DomainEvent } from '../../../domain/shared/decider.js';
import { expectGoldens, expectRequired, fitting, golden } from '../../support/catalog-spec.js';
import { specOf } from '../../support/decider-spec.js';

const events: Catalog['events'] = catalog.events;
const OWN = ['RecordsIngested', 'RecordsExpired', 'BatchesErased', 'RebuildBegun', 'RebuildFinished'];
const fits = fitting(events);

const DAY = 86_400_000;
const bucket = { producerId: 'api', day: '20261001', audit: false };
const expire = (before: number, auditBefore = 0): ExpireRecords => ({
  type: 'ExpireRecords',
  before,
  auditBefore,
  ended: [bucket],
});

const begin: RebuildCommand = { type: 'BeginRebuild', id: 'one', startedAt: DAY };
const finish: RebuildCommand = {
  type: 'FinishRebuild',
  id: 'one',
  startedAt: DAY,
  finishedAt: DAY + 7,
  recordsInserted: 3,
  recordsSkipped: 1,
  entriesDeleted: 4,
};

const emitted: readonly DomainEvent[] = [
  ...createBatches({
    producerId: 'api',
    receivedAt: 10 * DAY,
    records: [{ json: '{"a":1}', bytes: 7, audit: false }],
    rejected: 2,
    source: { id: 'file', offset: 8 },
  }),
  ...createRequestBatches(
    { producerId: 'api', receivedAt: 10 * DAY, records: [] },
    { accepted: 0, rejected: 1, errors: [{ line: 1, error: 'Line 1 is not valid JSON' }] },
  ).first,
  ...specOf(retention).run([expire(5 * DAY)]).events,
  ...specOf(rebuild).run([begin, finish]).events,
];

describe('the events of log records', () => {
  it('match their schemas', () => {
    expect(new Set(emitted.map(({ type }) => type))).to.deep.equal(new Set(OWN));
    for (const { type, data } of emitted) expect(fits(type, 1, data), type).to.equal(true);
  });

  it('are rejected without a field that is not optional', () =>
    expectRequired(events, emitted, { RecordsIngested: ['source', 'request'] }));

  it('encrypt only the records, with the key of producer and day', () => {
    for (const { type, data } of emitted) {
      const sealing = events[type]?.sealed;
      expect(!!sealing, type).to.equal('secret' in data);
      if (!sealing) continue;
      expect(sealing.subject(data)).to.equal('logs.batch-api-19700111');
      expect(recordTexts(catalog.events.RecordsIngested.sealed.erased)).to.deep.equal([]);
    }
    expect(catalog.events.BatchesErased.erases(bucket)).to.equal(bucketSubject(bucket));
  });

  it('have a readable fixture of every version', () => expectGoldens(catalog));
});

describe('the records of a stored batch', () => {
  const secretOf = (name: string) => golden('logs', name).secret as Parameters<typeof recordTexts>[0];

  it('are read as written', () => {
    expect(recordTexts(secretOf('RecordsIngested.v1'))).to.deep.equal([
      '{"level":"info","message":"started"}',
      '{"level":50,"id":9007199254740993}',
    ]);
  });

  it('match the schema as written', () => {
    const data = golden('logs', 'RecordsIngested.v1');
    expect(fits('RecordsIngested', 1, data)).to.equal(true);
    expect(fits('RecordsIngested', 1, { ...data, secret: {} })).to.equal(false);
  });
});

describe('retention of log records', () => {
  const { given } = specOf(retention);

  it('expires older records and erases the given buckets', () => {
    given()
      .when(expire(5 * DAY))
      .then(
        { type: 'RecordsExpired', data: { before: 5 * DAY, auditBefore: 0 } },
        { type: 'BatchesErased', data: bucket },
      );
  });

  it('has no effect when repeated', () => {
    given({ type: 'RecordsExpired', data: { before: 5 * DAY, auditBefore: 0 } })
      .when(expire(5 * DAY))
      .thenNothing();
  });

  it('restores nothing when extended', () => {
    given({ type: 'RecordsExpired', data: { before: 5 * DAY, auditBefore: 3 * DAY } })
      .when(expire(2 * DAY, 4 * DAY))
      .then(
        { type: 'RecordsExpired', data: { before: 5 * DAY, auditBefore: 4 * DAY } },
        { type: 'BatchesErased', data: bucket },
      );
  });
});

describe('the reindex decider in the catalog', () => {
  const { given, after } = specOf(rebuild);
  const { type: _, ...finished } = finish;

  it('is started once and finished once', () => {
    given({ type: 'RebuildBegun', data: { id: 'one', startedAt: DAY } })
      .when(begin)
      .thenNothing();
    given({ type: 'RebuildFinished', data: finished })
      .when({ ...finish, recordsInserted: 9 })
      .thenNothing();
  });

  it('keeps its report', () => {
    expect(after([{ type: 'RebuildFinished', data: finished }]).rebuilt).to.deep.include({
      recordsInserted: 3,
    });
  });
});
