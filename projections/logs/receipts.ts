/** What the record index knows of requests and files that were taken in before. */
import type { Db } from 'mongodb';
import type { EarlierRequest } from '../../application/logs/ingest.js';
import { REQUESTS, SOURCES } from './parts.js';
import type { RequestRow, SourceRow } from './rows.js';

export interface Receipts {
  request(commandId: string): Promise<EarlierRequest | undefined>;
  /** How many bytes of a file are in the log. */
  offset(source: string): Promise<number | undefined>;
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
  };
}
