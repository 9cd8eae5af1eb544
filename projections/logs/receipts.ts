/** What the record index knows besides records: requests and files that were taken in, whose days there are. */
import type { Db } from 'mongodb';
import type { EarlierRequest } from '../../application/logs/ingest.js';
import type { Keeping } from '../../domain/logs/batch.js';
import { HOURS, KEEPINGS, REQUESTS, SOURCES } from './parts.js';
import type { HourRow, KeepingRow, RequestRow, SourceRow } from './rows.js';

export interface Receipts {
  request(commandId: string): Promise<EarlierRequest | undefined>;
  /** How many bytes of a file are in the log. */
  offset(source: string): Promise<number | undefined>;
  /** Whose records there are that were received before a day. */
  receivedBefore(day: string, audit: boolean): Promise<readonly Keeping[]>;
  /** How many records the index holds. */
  count(): Promise<number>;
}

export function createReceipts(db: Db, build: () => string | undefined): Receipts {
  return {
    async request(commandId) {
      const row = await db.collection<RequestRow>(`${build()}.${REQUESTS}`).findOne({ _id: commandId });
      return row ? { ...row, position: row._at.toBigInt() } : undefined;
    },
    async offset(source) {
      const row = await db.collection<SourceRow>(`${build()}.${SOURCES}`).findOne({ _id: source });
      return row?.offset;
    },
    async receivedBefore(day, audit) {
      const keepings = db.collection<KeepingRow>(`${build()}.${KEEPINGS}`);
      const rows = await keepings.find({ audit, received: { $lt: day } }).toArray();
      return rows.map(({ producerId, received }) => ({ producerId, day: received, audit }));
    },
    async count() {
      const hours = db.collection<HourRow>(`${build()}.${HOURS}`);
      let sum = 0;
      for await (const { total } of hours.find({}, { projection: { total: 1 } })) sum += total;
      return sum;
    },
  };
}
