/** The index of what was said as queries see it: heads of runs in memory, most of which a filter rules out unopened. */
import { LRUCache } from 'lru-cache';
import type { Collection, Db } from 'mongodb';
import type { Hit, SearchIndex, SearchQuery } from '../../../application/chat/search.js';
import type { Cache, Position, Vault } from '../../../application/ports.js';
import { isTurnOver, nextTurn } from '../../../application/turns.js';
import { mayHave, piecesOfWord } from '../../../domain/chat/search.js';
import { createHeads, type Head } from './heads.js';
import { foundIn, type OpenRun, openRun, sizeOf } from './opened.js';
import { type Doc, openDocs, ROWS, type SearchRow, subjectOf } from './rows.js';

/** Filters of a million messages take about so much. */
const FILTER_BYTES = 48 * 1024 * 1024;
const OPENED_BYTES = 40 * 1024 * 1024;
/** What is asked of the store at once. */
const AT_ONCE = 64;
/** A run that was packed meanwhile is no more where it was. */
const ATTEMPTS = 5;

export interface SearchReaderPorts {
  readonly db: Db;
  readonly vault: Vault;
  /** Name of the build that is served. */
  readonly build: () => string | undefined;
  /** How far the index has come, as this node knows: rows up to here are as they will be. */
  readonly position: () => Position;
}

type Rows = Collection<SearchRow>;
type Wanted = SearchQuery & { readonly pieces: readonly (readonly number[])[] };

export function createSearchIndex({ db, vault, build, position }: SearchReaderPorts): SearchIndex & {
  readonly caches: readonly Cache[];
} {
  const heads = createHeads(db, position);
  const filters = new LRUCache<string, Uint8Array>({
    maxSize: FILTER_BYTES,
    sizeCalculation: ({ length }, key) => length + key.length + 100,
  });
  const opened = new LRUCache<string, OpenRun>({
    maxSize: OPENED_BYTES,
    sizeCalculation: (run, key) => sizeOf(run) + key.length,
  });

  /** Of those that are packed, a store's worth at once. */
  async function readFilters(rows: Rows, some: readonly Head[]) {
    const missing = some.filter(({ isPacked, key }) => isPacked && !filters.has(key));
    if (missing.length === 0) return;
    const asked = { _id: { $in: missing.map(({ id }) => id) } };
    const channels = new Map(missing.map((head) => [head.id, head]));
    for (const row of await rows.find(asked).project<SearchRow>({ filter: 1, _at: 1 }).toArray()) {
      const head = channels.get(row._id);
      if (!head || !row.filter) continue;
      const bytes = await vault.openBytes(subjectOf(head.channel), row.filter.buffer);
      // Of what can't be opened nothing is found.
      filters.set(keyOf(row), Uint8Array.from(bytes ?? new Uint8Array(8)));
    }
  }

  /** Those that are opened for sure, since they are small. */
  async function readSmall(rows: Rows, some: readonly Head[]) {
    const missing = some.filter(({ isPacked, key }) => !isPacked && !opened.has(key));
    if (missing.length === 0) return;
    const asked = { _id: { $in: missing.map(({ id }) => id) } };
    for (const row of await rows.find(asked).toArray()) await open(row);
  }

  async function open(row: SearchRow): Promise<OpenRun> {
    const run = openRun((await openDocs(vault, row)) ?? []);
    opened.set(keyOf(row), run);
    return run;
  }

  async function runOf(rows: Rows, { id, key }: Head): Promise<OpenRun | undefined> {
    const known = opened.get(key);
    if (known) return known;
    const row = await rows.findOne({ _id: id });
    return row ? open(row) : undefined;
  }

  /** Whether it may have what is asked for, by all that is known of it unopened. */
  function mayBeIn({ isPacked, key, authors }: Head, { words, pieces, authorId }: Wanted): boolean {
    if (authorId !== undefined && !authors.includes(authorId)) return false;
    const filter = isPacked ? filters.get(key) : undefined;
    if (!filter) return true;
    return words.every(
      (word, index) =>
        pieces[index]!.every((piece) => mayHave(filter, piece)) ||
        (word.authors.size > 0 && authors.some((each) => word.authors.has(each))),
    );
  }

  /** Or the run that is no more where it was. */
  async function attempt(rows: Rows, all: readonly Head[], query: Wanted): Promise<readonly Hit[] | Head> {
    const seeing = new Map<string, boolean>();
    const sees = (channel: string) => {
      const known = seeing.get(channel) ?? query.sees(channel);
      seeing.set(channel, known);
      return known;
    };
    const visible = all.filter(({ channel }) => sees(channel));
    let found: readonly Found[] = [];
    for (let from = 0; from < visible.length; from += AT_ONCE) {
      const some = visible.slice(from, from + AT_ONCE);
      if (isEnough(found, query.limit, some[0]!)) break;
      await readFilters(rows, some);
      await readSmall(rows, some);
      for (const head of some) {
        if (isTurnOver()) await nextTurn();
        if (!mayBeIn(head, query)) continue;
        if (isEnough(found, query.limit, head)) break;
        const run = await runOf(rows, head);
        if (!run) return head;
        const more = Array.from(foundIn(run, query), (doc) => foundOf(doc, head.channel));
        if (more.length > 0) found = newest([...found, ...more], query.limit);
      }
    }
    return found.map(hitOf);
  }

  return {
    caches: [
      { name: 'chat.search-filters', limitBytes: FILTER_BYTES, bytes: () => filters.calculatedSize },
      { name: 'chat.search-texts', limitBytes: OPENED_BYTES, bytes: () => opened.calculatedSize },
    ],
    async find(asked) {
      const query = { ...asked, pieces: asked.words.map(({ text }) => piecesOfWord(text)) };
      for (let tried = 0; tried < ATTEMPTS; tried++) {
        const name = build();
        if (name === undefined) return [];
        const hits = await attempt(db.collection<SearchRow>(`${name}.${ROWS}`), await heads.all(name), query);
        if (!('isPacked' in hits)) return hits;
        await heads.drop(name, hits);
      }
      throw new Error('the index of what was said changes faster than it can be read');
    },
  };
}

interface Found {
  readonly doc: Doc;
  readonly channel: string;
  readonly posted: Position;
}

const keyOf = ({ _id, _at }: Pick<SearchRow, '_id' | '_at'>): string => `${_id} ${_at}`;

const foundOf = (doc: Doc, channel: string): Found => ({ doc, channel, posted: BigInt(doc.posted) });

/** Each once, though it may be met where it was and where it was packed into. */
function newest(found: readonly Found[], limit: number): readonly Found[] {
  const sorted = found.toSorted((a, b) => (a.posted > b.posted ? -1 : 1));
  return sorted.filter(({ posted }, index) => posted !== sorted[index - 1]?.posted).slice(0, limit);
}

/** Whether nothing in this run, or in those behind it, comes before what is found already. */
const isEnough = (found: readonly Found[], limit: number, { last }: Head): boolean =>
  found.length >= limit && found.at(-1)!.posted >= last;

const hitOf = ({ doc: { id, author, createdAt, content, botName }, channel: channelId }: Found): Hit => ({
  id,
  channelId,
  author,
  createdAt,
  content,
  ...(botName !== undefined && { botName }),
});
