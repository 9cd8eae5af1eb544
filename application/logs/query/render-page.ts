/** Renders a page of records as JSON bytes; a page of large records has fewer of them than requested. */
import type { Filter } from '../../../domain/logs/filter.js';
import type { JsonObject } from '../../../domain/logs/json.js';
import type { IdentifiedRecord } from '../../../domain/logs/record.js';
import { formatCursor, type Order, type RecordPosition } from '../../../domain/logs/record-id.js';
import type { BlockRef, RecordIndex } from '../record-index.js';
import type { Checkpoint } from './query-budget.js';
import { type Hit, search } from './search-blocks.js';

export interface PageRequest {
  readonly filter: Filter;
  readonly order: Order;
  readonly limit: number;
  /** Only records after it in the order. */
  readonly after?: RecordPosition | undefined;
}

/** A record as the API returns it. */
export interface Entry {
  readonly id: string;
  readonly timestamp: string;
  readonly level: string;
  readonly event: string | null;
  readonly message: string;
  readonly producerId: string;
  readonly correlationId: string | null;
  readonly data: JsonObject;
}

export interface Page {
  readonly entries: readonly Entry[];
  readonly hasMore: boolean;
  readonly limit: number;
  readonly nextCursor?: string;
}

export const entryOf = (record: IdentifiedRecord): Entry => ({
  id: record.id,
  timestamp: new Date(record.instant).toISOString(),
  level: record.level,
  event: record.event ?? null,
  message: record.message,
  producerId: record.producerId,
  correlationId: record.correlationId ?? null,
  data: record.data,
});

/** An `Entry` as JSON text; `line` is the JSON text of the record itself. */
export function entryText(record: IdentifiedRecord, line: string): string {
  const { data: _, ...rest } = entryOf(record);
  return `${JSON.stringify(rest).slice(0, -1)},"data":${line}}`;
}

/** Bytes after which a page ends (docs/guide/bounds.md). */
const PAGE_BYTES = 4 * 1024 * 1024;
/** Limits of one fetch: rendered, records are up to three times as large. */
const FETCH_LIMITS = { records: 200, characters: 1024 * 1024 };
/** Blocks read concurrently: the store answers reads of one day's blocks together. */
const MAX_BLOCKS = 16;

interface RenderedEntry extends RecordPosition {
  readonly json: Buffer;
}

/** A `Page` as JSON. Throws what the checkpoint throws. */
export async function renderPage(
  index: RecordIndex,
  { filter, order, limit, after }: PageRequest,
  checkpoint: Checkpoint,
): Promise<Buffer> {
  const entries: RenderedEntry[] = [];
  let bytes = 0;
  let hasMore = false;
  const hits = search(index, { filter, order, checkpoint, after }, limit + 1);
  for await (const batch of batchHits(hits)) {
    for (const entry of await renderHits(batch, checkpoint)) {
      hasMore = entries.length === limit || (entries.length > 0 && bytes + entry.json.length > PAGE_BYTES);
      if (hasMore) break;
      entries.push(entry);
      bytes += entry.json.length + 1;
    }
    if (hasMore) break;
  }
  const more = hasMore ? { nextCursor: formatCursor(entries.at(-1)!) } : {};
  const rest = JSON.stringify({ hasMore, limit, ...more } satisfies Omit<Page, 'entries'>);
  const parts = entries.flatMap(({ json }, at) => (at === 0 ? [json] : [COMMA, json]));
  return Buffer.concat([Buffer.from('{"entries":['), ...parts, Buffer.from(`],${rest.slice(1)}`)]);
}

const COMMA = Buffer.from(',');

async function* batchHits(hits: AsyncIterable<Hit>): AsyncGenerator<readonly Hit[]> {
  let batch: Hit[] = [];
  let characters = 0;
  for await (const hit of hits) {
    batch.push(hit);
    characters += hit.size;
    if (batch.length < FETCH_LIMITS.records && characters < FETCH_LIMITS.characters) continue;
    yield batch;
    [batch, characters] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}

/** Reads each block once; keeps the order of the hits. Records that have expired since are left out. */
async function renderHits(hits: readonly Hit[], checkpoint: Checkpoint): Promise<readonly RenderedEntry[]> {
  const byBlock = new Map<BlockRef, number[]>();
  for (const [at, { ref }] of hits.entries()) byBlock.set(ref, [...(byBlock.get(ref) ?? []), at]);
  const entries: (RenderedEntry | undefined)[] = [];
  const renderFrom = (ref: BlockRef, hitIndexes: readonly number[]) =>
    ref.read(
      async (block) => {
        for (const at of hitIndexes) {
          const pause = checkpoint();
          if (pause) await pause;
          const { instant, id, index } = hits[at]!;
          entries[at] = { instant, id, json: Buffer.from(block.entry(index)) };
        }
      },
      { records: hitIndexes.map((at) => hits[at]!.index) },
    );
  const blocks = [...byBlock];
  while (blocks.length > 0)
    await Promise.all(blocks.splice(0, MAX_BLOCKS).map(([ref, hitIndexes]) => renderFrom(ref, hitIndexes)));
  return entries.filter((entry) => entry !== undefined);
}
