/** Reads ingest metadata: keyed-request streams, file offsets, retention buckets and the record count. */
import type { Db } from 'mongodb';
import { bucketSubject, type RetentionBucket } from '../../../domain/logs/retention-bucket.js';
import { assertBuildExists } from '../../kernel/index.js';
import { BUCKETS, HOURS, REQUESTS, SCATTERED_PARTS, SOURCES } from './partitions.js';
import type { BlockRow, BucketRow, HourRow, RequestRow, SourceRow } from './rows.js';

/** All methods reject with `UnavailableError` if the build is dropped meanwhile. */
export interface Receipts {
  /** Streams of a bucket that hold one keyed request each. */
  requestStreams(bucket: RetentionBucket): AsyncIterable<string>;
  /** Bytes of a file that are ingested. */
  offset(source: string): Promise<number | undefined>;
  /** Buckets received before a day. */
  receivedBefore(day: string, audit: boolean): Promise<readonly RetentionBucket[]>;
  /** Number of records in the index. */
  count(): Promise<number>;
}

export function createReceipts(db: Db, build: () => string | undefined): Receipts {
  async function readBuild<Found>(read: (name: string | undefined) => Promise<Found>): Promise<Found> {
    const name = build();
    const found = await read(name);
    await assertBuildExists(db, name);
    return found;
  }

  return {
    async *requestStreams(bucket) {
      const name = build();
      const rows = db.collection<RequestRow>(`${name}.${REQUESTS}`);
      for await (const { _id } of rows.find({ subject: bucketSubject(bucket) })) yield _id;
      await assertBuildExists(db, name);
    },
    offset: (source) =>
      readBuild(async (name) => {
        const row = await db.collection<SourceRow>(`${name}.${SOURCES}`).findOne({ _id: source });
        return row?.offset;
      }),
    receivedBefore: (day, audit) =>
      readBuild(async (name) => {
        const buckets = db.collection<BucketRow>(`${name}.${BUCKETS}`);
        const rows = await buckets.find({ audit, received: { $lt: day } }).toArray();
        return rows.map(({ producerId, received }) => ({ producerId, day: received, audit }));
      }),
    count: () =>
      readBuild(async (name) => {
        const hours = db.collection<HourRow>(`${name}.${HOURS}`);
        let sum = 0;
        for await (const { total } of hours.find({}, { projection: { total: 1 } })) sum += total;
        for (const part of SCATTERED_PARTS) {
          const blocks = db.collection<BlockRow>(`${name}.${part}`);
          for await (const { count, over } of blocks.find({}, { projection: { count: 1, over: 1 } }))
            sum += count - (over?.count ?? 0);
        }
        return sum;
      }),
  };
}
