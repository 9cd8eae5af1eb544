/** What the record index knows besides records: streams of requests, how far files were read, whose days there are. */
import type { Db } from 'mongodb';
import { bucketSubject, type RetentionBucket } from '../../../domain/logs/retention-bucket.js';
import { assertBuildExists } from '../../kernel/index.js';
import { HOURS, KEEPINGS, REQUESTS, SCATTERED_PARTS, SOURCES } from './partitions.js';
import type { BlockRow, HourRow, KeepingRow, RequestRow, SourceRow } from './rows.js';

/** Everything rejects with `Unavailable` where the build is dropped meanwhile. */
export interface Receipts {
  /** The streams of a keeping that hold one request each. */
  requestStreams(keeping: RetentionBucket): AsyncIterable<string>;
  /** How many bytes of a file are in the log. */
  offset(source: string): Promise<number | undefined>;
  /** Whose records there are that were received before a day. */
  receivedBefore(day: string, audit: boolean): Promise<readonly RetentionBucket[]>;
  /** How many records the index holds. */
  count(): Promise<number>;
}

export function createReceipts(db: Db, build: () => string | undefined): Receipts {
  async function standing<Found>(read: (name: string | undefined) => Promise<Found>): Promise<Found> {
    const name = build();
    const found = await read(name);
    await assertBuildExists(db, name);
    return found;
  }

  return {
    async *requestStreams(keeping) {
      const name = build();
      const rows = db.collection<RequestRow>(`${name}.${REQUESTS}`);
      for await (const { _id } of rows.find({ subject: bucketSubject(keeping) })) yield _id;
      await assertBuildExists(db, name);
    },
    offset: (source) =>
      standing(async (name) => {
        const row = await db.collection<SourceRow>(`${name}.${SOURCES}`).findOne({ _id: source });
        return row?.offset;
      }),
    receivedBefore: (day, audit) =>
      standing(async (name) => {
        const keepings = db.collection<KeepingRow>(`${name}.${KEEPINGS}`);
        const rows = await keepings.find({ audit, received: { $lt: day } }).toArray();
        return rows.map(({ producerId, received }) => ({ producerId, day: received, audit }));
      }),
    count: () =>
      standing(async (name) => {
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
