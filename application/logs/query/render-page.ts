/** Makes a page of records: as JSON text in bytes, large ones of fewer records than were asked for. */
import { cursorOf, type RecordPosition } from '../../../domain/logs/record-id.js';
import type { PageAsked } from '../ports.js';
import type { BlockRef, RecordIndex } from '../record-index.js';
import type { Checkpoint } from './query-budget.js';
import type { Page } from './query-service.js';
import { type Hit, search } from './search-blocks.js';

/** A page ends at the first record beyond so many bytes (docs/guide/bounds.md). */
const PAGE_BYTES = 4 * 1024 * 1024;
/** Records are fetched so many, or so many characters, at a time: as shown they are up to three times as large. */
const FETCHED = { records: 200, characters: 1024 * 1024 };
/** And out of so many blocks together: what those of one day are asked for comes in one answer of a store. */
const BLOCKS_AT_ONCE = 16;

interface Shown extends RecordPosition {
  readonly json: Buffer;
}

/** A `Page` as JSON. Throws what the pace throws. */
export async function pageOf(
  index: RecordIndex,
  { filter, order, limit, after }: PageAsked,
  pace: Checkpoint,
): Promise<Buffer> {
  const shown: Shown[] = [];
  let bytes = 0;
  let hasMore = false;
  const hits = search(index, { filter, order, pace, ...(after && { after }) }, limit + 1);
  for await (const some of fetches(hits)) {
    for (const each of await fetched(some, pace)) {
      hasMore = shown.length === limit || (shown.length > 0 && bytes + each.json.length > PAGE_BYTES);
      if (hasMore) break;
      shown.push(each);
      bytes += each.json.length + 1;
    }
    if (hasMore) break;
  }
  const more = hasMore ? { nextCursor: cursorOf(shown.at(-1)!) } : {};
  const rest = JSON.stringify({ hasMore, limit, ...more } satisfies Omit<Page, 'entries'>);
  const entries = shown.flatMap(({ json }, at) => (at === 0 ? [json] : [COMMA, json]));
  return Buffer.concat([Buffer.from('{"entries":['), ...entries, Buffer.from(`],${rest.slice(1)}`)]);
}

const COMMA = Buffer.from(',');

async function* fetches(hits: AsyncIterable<Hit>): AsyncGenerator<readonly Hit[]> {
  let some: Hit[] = [];
  let characters = 0;
  for await (const hit of hits) {
    some.push(hit);
    characters += hit.size;
    if (some.length < FETCHED.records && characters < FETCHED.characters) continue;
    yield some;
    [some, characters] = [[], 0];
  }
  if (some.length > 0) yield some;
}

/** In the order of the hits, though every block is opened but once. What has expired since is left out. */
async function fetched(hits: readonly Hit[], pace: Checkpoint): Promise<readonly Shown[]> {
  const byBlock = new Map<BlockRef, number[]>();
  for (const [at, { ref }] of hits.entries()) byBlock.set(ref, [...(byBlock.get(ref) ?? []), at]);
  const shown: (Shown | undefined)[] = [];
  const showIn = (ref: BlockRef, places: readonly number[]) =>
    ref.read(
      async (block) => {
        for (const at of places) {
          const turn = pace();
          if (turn) await turn;
          const { instant, id, index } = hits[at]!;
          shown[at] = { instant, id, json: Buffer.from(block.entry(index)) };
        }
      },
      { records: places.map((at) => hits[at]!.index) },
    );
  const blocks = [...byBlock];
  while (blocks.length > 0)
    await Promise.all(blocks.splice(0, BLOCKS_AT_ONCE).map(([ref, places]) => showIn(ref, places)));
  return shown.filter((each) => each !== undefined);
}
