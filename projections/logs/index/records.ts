/** The index of all log records: blocks by day, counts by hour, how far files were read, what was answered. */
import type { RecordedEvent } from '../../../application/ports/index.js';
import type { LogsEvent } from '../../../domain/logs/catalog.js';
import { type EventHandlers, handlerFor } from '../../../domain/shared/index.js';
import type { Apply, Build, OwnProjection, Row } from '../../kernel/index.js';
import { expire } from './expiry.js';
import { readableHour } from './hourly-counts.js';
import { startIndexing } from './index-writer.js';
import { forgetRequests } from './ingest-requests.js';
import { HOURS, isSections, REQUESTS, readPart, sectionsIn } from './partitions.js';
import { type BlockRow, HOUR_INDEXES, type HourRow, REQUEST_INDEXES, type SectionsRow } from './rows.js';
import { readableBlock, readableRegisters } from './verify-scan.js';

export const records: OwnProjection = { name: 'logs.records', version: 10, batchSize: 128, open, scan };

type Indexed = LogsEvent<'RecordsIngested' | 'RecordsExpired' | 'BatchesErased'>;

async function open(build: Build): Promise<Apply> {
  await build.collection(HOURS).createIndexes(HOUR_INDEXES);
  await build.collection(REQUESTS).createIndexes(REQUEST_INDEXES);
  let indexing = startIndexing(build);
  let erased: RecordedEvent<LogsEvent<'BatchesErased'>>[] = [];
  const on: EventHandlers<RecordedEvent<Indexed>, Promise<void>> = {
    RecordsIngested: (event) => indexing.take(event),
    async RecordsExpired(event) {
      await indexing.flush();
      await expire(build, event);
      indexing = startIndexing(build);
    },
    async BatchesErased(event) {
      erased.push(event);
    },
  };
  return async (events) => {
    try {
      for (const event of events) await handlerFor(on, event)?.(event);
      await indexing.flush();
      // Together: thousands may end in one moment, and none of them says anything of rows of later events.
      if (erased.length > 0) await forgetRequests(build, erased);
      erased = [];
    } catch (error) {
      // What is remembered may be ahead of the rows: begin again from them.
      indexing = startIndexing(build);
      erased = [];
      throw error;
    }
  };
}

/** With all opened, and texts whole: two builds seal the same differently, and in other pieces. */
async function* scan({ vault, parts, collection }: Build): AsyncGenerator<Row> {
  for (const part of [...(await parts())].sort()) {
    // Requests are forgotten by the clock, not by the log.
    if (part === REQUESTS || isSections(part)) continue;
    const rows = <Stored extends HourRow | BlockRow | Row>() =>
      collection<Stored>(part).find<Stored>({}, { sort: { _id: 1 } });
    const placed = ({ _id, _at }: Pick<Row, '_id' | '_at'>) => ({ _id: `${part}/${_id}`, _at });
    if (part === HOURS)
      for await (const row of rows<HourRow>()) yield { ...(await readableHour(vault, row)), ...placed(row) };
    else if (readPart(part)) {
      const sections = collection<SectionsRow>(sectionsIn(part));
      const beside = { sections, registered: await readableRegisters(vault, sections) };
      for await (const row of rows<BlockRow>()) yield { ...(await readableBlock(vault, beside, row)), ...placed(row) };
    } else for await (const row of rows<Row>()) yield { ...row, ...placed(row) };
  }
}
