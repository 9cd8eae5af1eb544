/** Projection of all log records: blocks, counts by hour, and ingest metadata. */
import type { RecordedEvent } from '../../../application/ports/index.js';
import type { LogsEvent } from '../../../domain/logs/catalog.js';
import { type EventHandlers, handlerFor } from '../../../domain/shared/index.js';
import type { Apply, Build, OwnProjection, Row } from '../../kernel/index.js';
import { createExpiry } from './expiry.js';
import { readableHour } from './hourly-counts.js';
import { createIndexWriter } from './index-writer.js';
import { markErasedRequests } from './ingest-receipts.js';
import {
  BLOCK_INDEXES,
  type BlockRow,
  type BucketRow,
  type ExpiryRow,
  HOUR_INDEXES,
  type HourRow,
  isExpired,
  REQUEST_INDEXES,
  type SectionsRow,
} from './rows.js';
import { readableBlock } from './verify-scan.js';

export const records: OwnProjection = { name: 'logs.records', version: 19, batchSize: 128, open, scan };

type Indexed = LogsEvent<'RecordsIngested' | 'RecordsExpired' | 'BatchesErased'>;

async function open(build: Build): Promise<Apply> {
  await build.collection('blocks').createIndexes(BLOCK_INDEXES);
  await build.collection('hours').createIndexes(HOUR_INDEXES);
  await build.collection('requests').createIndexes(REQUEST_INDEXES);
  const expiry = await createExpiry(build);
  // An earlier process may have ended before its deletion did.
  expiry.sweep();
  let writer = createIndexWriter(build, expiry.last());
  let erased: RecordedEvent<LogsEvent<'BatchesErased'>>[] = [];
  const on: EventHandlers<RecordedEvent<Indexed>, Promise<void>> = {
    RecordsIngested: (event) => writer.take(event),
    async RecordsExpired(event) {
      await writer.flush();
      await expiry.expire(event);
      writer = createIndexWriter(build, expiry.last());
    },
    async BatchesErased(event) {
      erased.push(event);
    },
  };
  return async (events) => {
    try {
      for (const event of events) await handlerFor(on, event)?.(event);
      await writer.flush();
      // Batched, since thousands may be erased together; it affects no rows of later events.
      if (erased.length > 0) await markErasedRequests(build, erased);
      erased = [];
      expiry.sweep();
    } catch (error) {
      // Buffered state may be ahead of the rows; start over from them.
      await writer.end();
      writer = createIndexWriter(build, expiry.last());
      erased = [];
      throw error;
    }
  };
}

/** Rows with decrypted content and whole texts, because two builds encrypt and split the same content differently. */
async function* scan({ vault, parts, collection }: Build): AsyncGenerator<Row> {
  const expiry = await collection<ExpiryRow>('expiry').findOne();
  for (const part of [...(await parts())].sort()) {
    // Keyed requests expire by time-to-live, not by events.
    if (part === 'requests' || part === 'sections') continue;
    const rows = <Stored extends HourRow | BlockRow | BucketRow | Row>() =>
      collection<Stored>(part).find<Stored>({}, { sort: { _id: 1 } });
    const prefixed = ({ _id, _at }: Pick<Row, '_id' | '_at'>) => ({ _id: `${part}/${_id}`, _at });
    if (part === 'hours')
      for await (const row of rows<HourRow>()) yield { ...(await readableHour(vault, row)), ...prefixed(row) };
    else if (part === 'blocks') {
      const sections = collection<SectionsRow>('sections');
      for await (const row of rows<BlockRow>())
        if (!isExpired(row, expiry)) yield { ...(await readableBlock(vault, sections, row)), ...prefixed(row) };
    } else if (part === 'buckets')
      // The order of its parts depends on failovers.
      for await (const row of rows<BucketRow>())
        yield { ...row, ...prefixed(row), parts: [...(row.parts ?? [])].sort() };
    else for await (const row of rows<Row>()) yield { ...row, ...prefixed(row) };
  }
}
