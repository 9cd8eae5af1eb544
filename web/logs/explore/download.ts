/** Saves the records of the query as a file, page by page, up to a bound. */

import { toast } from '../../shared/components/toasts.js';
import { csvOf, download } from '../../shared/csv.js';
import { stringifyExact } from '../api/exact-json.js';
import { fetchPage } from '../api/queries.js';
import type { Entry } from '../contract.js';
import { texts } from '../texts.js';
import { currentSelection } from './explorer-state.js';
import { view } from './view.js';

export type FileFormat = 'ndjson' | 'csv';

/** Records in a file at most. */
export const MAX_DOWNLOAD = 10_000;
const PAGE_RECORDS = 1000;

/** Rejects when a page cannot be had. */
export async function downloadRecords(format: FileFormat): Promise<void> {
  const selection = currentSelection();
  const { order } = view.peek();
  const records: Entry[] = [];
  let cursor: string | undefined;
  do {
    const page = await fetchPage(selection, { order, limit: PAGE_RECORDS, cursor });
    records.push(...page.entries);
    cursor = page.nextCursor;
  } while (cursor !== undefined && records.length < MAX_DOWNLOAD);
  const saved = records.slice(0, MAX_DOWNLOAD);
  const name = `logs-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}`;
  if (format === 'csv') download(`${name}.csv`, csvOfRecords(saved));
  else
    download(
      `${name}.ndjson`,
      saved.map((entry) => `${stringifyExact(entry)}\n`),
      'application/x-ndjson',
    );
  const isCut = cursor !== undefined || records.length > MAX_DOWNLOAD;
  toast({ text: isCut ? texts.results.downloadCut(saved.length) : texts.results.downloaded(saved.length) });
}

const COLUMNS = ['timestamp', 'level', 'producer', 'event', 'message', 'correlation', 'data'] as const;

const csvOfRecords = (records: readonly Entry[]) =>
  csvOf(
    COLUMNS,
    records.map((entry) => [
      entry.timestamp,
      entry.level,
      entry.producerId,
      entry.event ?? '',
      entry.message,
      entry.correlationId ?? '',
      stringifyExact(entry.data),
    ]),
  );
