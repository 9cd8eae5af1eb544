/** Batches of ingest requests, and positions of records. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  BATCH_BYTES,
  createBatches,
  createRequestBatches,
  type RecordsIngested,
  recordTexts,
} from '../../../domain/logs/batch.js';
import { compareRecords, formatCursor, parseCursor, recordId } from '../../../domain/logs/record-id.js';
import { batchStream, batchStreams, bucketSubject } from '../../../domain/logs/retention-bucket.js';

const RECEIVED = Date.UTC(2026, 10, 21, 9, 59);

describe('the batches of an ingest request', () => {
  const ingestion = fc.array(
    fc.record({
      json: fc.nat().map((n) => `{"n":${n}}`),
      audit: fc.boolean(),
      bytes: fc.integer({ min: 2, max: 65_536 }),
    }),
    { maxLength: 60 },
  );
  const textsIn = (batches: readonly RecordsIngested[]) => batches.flatMap(({ data }) => recordTexts(data.secret));

  it('contain every record once, in order, with audit records separate, within the size limit', () => {
    fc.assert(
      fc.property(ingestion, (records) => {
        const batches = createBatches({ producerId: 'api', receivedAt: RECEIVED, records, rejected: 3 });
        for (const audit of [true, false]) {
          const selected = batches.filter(({ data }) => data.audit === audit);
          const expected = records.filter((record) => record.audit === audit);
          expect(textsIn(selected)).to.deep.equal(expected.map(({ json }) => json));
          let next = 0;
          for (const { data } of selected) {
            expect(data.count).to.equal(recordTexts(data.secret).length).and.greaterThan(0);
            const some = expected.slice(next, next + data.count);
            next += data.count;
            expect(some.reduce((sum, { bytes }) => sum + bytes, 0)).to.be.at.most(BATCH_BYTES);
          }
        }
        expect(batches.reduce((sum, { data }) => sum + data.rejected, 0)).to.equal(records.length ? 3 : 0);
      }),
    );
  });

  it('store the answer of a request with a key, even without records', () => {
    fc.assert(
      fc.property(ingestion, (records) => {
        const answer = { accepted: records.length, rejected: 3, errors: [{ line: 2, error: 'no' }] };
        const { first, audit } = createRequestBatches({ producerId: 'api', receivedAt: RECEIVED, records }, answer);
        expect(first.map(({ data }) => data.request)).to.deep.equal([answer, ...first.slice(1).map(() => undefined)]);
        expect([...first, ...audit].reduce((sum, { data }) => sum + data.rejected, 0)).to.equal(3);
        for (const [batches, isAudit] of [
          [first, false],
          [audit, true],
        ] as const) {
          expect(batches.every(({ data }) => data.audit === isAudit)).to.equal(true);
          const expected = records.filter((record) => record.audit === isAudit);
          expect(textsIn(batches)).to.deep.equal(expected.map(({ json }) => json));
        }
      }),
    );
  });

  it('are as few as possible, filled up to the byte and record limits', () => {
    const counts = (records: readonly { bytes: number }[]) =>
      createBatches({
        producerId: 'api',
        receivedAt: RECEIVED,
        records: records.map((each) => ({ json: '{}', audit: false, ...each })),
        rejected: 0,
      }).map(({ data }) => data.count);
    const half = BATCH_BYTES / 2 - 1;
    expect(counts([{ bytes: half }, { bytes: half }])).to.deep.equal([2]);
    expect(counts([{ bytes: half }, { bytes: half + 1 }])).to.deep.equal([1, 1]);
    expect(counts([{ bytes: half }, { bytes: half }, { bytes: 1 }, { bytes: 1 }])).to.deep.equal([2, 2]);
    expect(counts([{ bytes: BATCH_BYTES * 2 }, { bytes: 1 }])).to.deep.equal([1, 1]);
    expect(counts(Array.from({ length: 10_000 }, () => ({ bytes: 2 })))).to.deep.equal([10_000]);
    expect(counts(Array.from({ length: 20_001 }, () => ({ bytes: 2 })))).to.deep.equal([10_000, 10_000, 1]);
  });

  it('have different streams for different producers, for any producer id', () => {
    const streams = ['a', 'a/b', 'a~47b', 'ä', 'a b'].map((producerId) =>
      bucketSubject({ producerId, day: '20261121', audit: false }),
    );
    expect(streams.slice(0, 2)).to.deep.equal(['logs.batch-a-20261121', 'logs.batch-a~47b-20261121']);
    expect(new Set(streams).size).to.equal(streams.length);
  });

  it('store the offset of a file in the last batch only', () => {
    const records = [true, false].map((audit) => ({ json: '{}', audit, bytes: 20 }));
    const source = { id: 'file', offset: 40 };
    const batches = createBatches({ producerId: 'api', receivedAt: RECEIVED, records, rejected: 0, source });
    expect(batches.map(({ data }) => data.source)).to.deep.equal([undefined, source]);
  });

  it('belong to the stream of their producer and hour, and the key of their producer and day', () => {
    const bucket = { producerId: 'api', day: '20261121', audit: false };
    expect(batchStream(bucket, RECEIVED)).to.equal('logs.batch-api-2026-11-21-09');
    expect(batchStream({ ...bucket, audit: true }, RECEIVED)).to.equal('logs.audit-api-2026-11-21-09');
    expect(bucketSubject(bucket)).to.equal('logs.batch-api-20261121');
    expect(batchStreams(bucket)).to.have.length(24).and.include('logs.batch-api-2026-11-21-09');
  });
});

describe('the position of a record', () => {
  const place = fc.record({
    instant: fc.nat(9e15),
    position: fc.bigInt(0n, 2n ** 63n - 1n),
    place: fc.nat(9999),
  });

  it('is restored from its cursor', () => {
    fc.assert(
      fc.property(place, ({ instant, position, place: index }) => {
        const record = { instant: Math.min(instant, Date.UTC(9999, 11, 31)), id: recordId(position, index) };
        expect(parseCursor(formatCursor(record))).to.deep.equal(record);
      }),
    );
  });

  it('is ordered by instant, then log position, then index in the batch', () => {
    fc.assert(
      fc.property(place, place, (a, b) => {
        const order = Math.sign(
          compareRecords(
            { instant: a.instant, id: recordId(a.position, a.place) },
            { instant: b.instant, id: recordId(b.position, b.place) },
          ),
        );
        const expected =
          Math.sign(a.instant - b.instant) ||
          Number(a.position > b.position) - Number(a.position < b.position) ||
          Math.sign(a.place - b.place);
        expect(order).to.equal(expected);
      }),
    );
  });

  it('is undefined for a malformed cursor', () => {
    for (const cursor of ['', 'x', '-', '1-2', `${'z'.repeat(11)}-${'0'.repeat(17)}`, `A-${'0'.repeat(17)}`])
      expect(parseCursor(cursor)).to.equal(undefined);
  });
});
