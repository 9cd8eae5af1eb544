/** Keeps the headers of all open runs and packs of the search index in memory, in step with the rows. */
import type { Db } from 'mongodb';
import { sliceExpired, yieldToEventLoop } from '../../../application/concurrency/index.js';
import type { Position } from '../../../application/ports/index.js';
import { longOf } from '../../kernel/index.js';
import { PACKS, type PackRow, RUNS, type RunRow } from './rows.js';

export interface BlockHeader {
  readonly id: string;
  /** Position of the last event that changed the block. */
  readonly at: Position;
  /** Cache key; changes with the block's content. */
  readonly key: string;
  readonly channel: string;
  readonly first: Position;
  readonly last: Position;
  readonly isPack: boolean;
  readonly authors: readonly string[];
}

interface Place {
  readonly packs: Map<string, BlockHeader>;
  readonly runs: Map<string, BlockHeader>;
  /** Messages up to here are in packs. */
  end: Position;
}

interface DirectoryState {
  readonly build: string;
  readonly places: Map<string, Place>;
  /** Rows changed up to here have been read. */
  until: Position;
  /** Newest first. */
  sorted: readonly BlockHeader[];
}

export interface BlockDirectory {
  /** Newest first, as of the current index position. */
  all(build: string): Promise<readonly BlockHeader[]>;
}

type HeaderRow = Pick<PackRow, '_id' | '_at' | 'channel' | 'first' | 'last' | 'authors'>;
const FIELDS = { _at: 1, channel: 1, first: 1, last: 1, authors: 1 } as const;

/** Includes the build, as blocks of two builds may share id and position but differ in content. */
export const keyOf = (build: string, isPack: boolean, { _id, _at }: Pick<HeaderRow, '_id' | '_at'>): string =>
  `${build} ${isPack ? 'pack' : 'run'} ${_id} ${_at}`;

export function createBlockDirectory(db: Db, position: () => Position): BlockDirectory {
  let known: DirectoryState | undefined;
  let reading: Promise<unknown> | undefined;
  const texts = new Map<string, string>();

  /** Interns ids, which repeat. */
  const intern = (text: string) => {
    if (texts.size > 500_000) texts.clear();
    const same = texts.get(text) ?? text;
    texts.set(text, same);
    return same;
  };

  async function read(build: string) {
    // Rows beyond this position may still be written; they are read again next time.
    const until = position();
    const now = known?.build === build ? known : emptyState(build);
    const since = { $gt: longOf(now.until) };
    // Reads runs first: a run packed meanwhile is then seen twice, and never missed.
    const runs = await db
      .collection<RunRow>(`${build}.${RUNS}`)
      .find({ open: true, _at: since })
      .project<HeaderRow>(FIELDS)
      .toArray();
    const packs = await db
      .collection<PackRow>(`${build}.${PACKS}`)
      .find({ _at: since })
      .project<HeaderRow>(FIELDS)
      .toArray();
    const [added, removed] = [[] as BlockHeader[], new Set<BlockHeader>()];
    for (const [rows, isPack] of [[packs, true] as const, [runs, false] as const])
      for (const row of rows) {
        if (sliceExpired()) await yieldToEventLoop();
        applyHeader(now, headerOf(build, row, isPack), added, removed);
      }
    // A row changed during the reads may be seen in both versions.
    const mergeNewest = added.filter((head) => !removed.has(head));
    if (mergeNewest.length > 0) now.sorted = await mergeSorted(now.sorted, mergeNewest, removed);
    // Set last, so that concurrent callers wait until the rows are merged.
    now.until = until;
    known = now;
  }

  const headerOf = (build: string, row: HeaderRow, isPack: boolean): BlockHeader => ({
    id: row._id,
    at: row._at.toBigInt(),
    key: keyOf(build, isPack, row),
    channel: intern(row.channel),
    first: row.first.toBigInt(),
    last: row.last.toBigInt(),
    isPack,
    authors: row.authors.map(intern),
  });

  /** Serializes reads: a caller that arrives during a read may need a newer position. */
  async function readNext(build: string) {
    if (reading) return reading.catch(() => {});
    reading = read(build).finally(() => {
      reading = undefined;
    });
    return reading;
  }

  return {
    async all(build) {
      const required = position();
      while (known?.build !== build || known.until < required) await readNext(build);
      return known.sorted;
    },
  };
}

/** Applies a changed header; collects added headers and those they replace. */
function applyHeader(
  { places }: DirectoryState,
  head: BlockHeader,
  added: BlockHeader[],
  removed: Set<BlockHeader>,
): void {
  const place = places.get(head.channel) ?? { packs: new Map(), runs: new Map(), end: 0n };
  places.set(head.channel, place);
  // Packed since it was read.
  if (!head.isPack && head.first <= place.end) return;
  const beside = head.isPack ? place.packs : place.runs;
  const before = beside.get(head.id);
  if (before?.key === head.key) return;
  if (before) removed.add(before);
  beside.set(head.id, head);
  added.push(head);
  if (!head.isPack || head.last <= place.end) return;
  place.end = head.last;
  for (const run of place.runs.values()) {
    if (run.first > place.end) continue;
    removed.add(run);
    place.runs.delete(run.id);
  }
}

/** Merges few changes into a long sorted list, newest first. */
async function mergeSorted(
  known: readonly BlockHeader[],
  added: BlockHeader[],
  removed: ReadonlySet<BlockHeader>,
): Promise<readonly BlockHeader[]> {
  added.sort((a, b) => (a.last > b.last ? -1 : 1));
  const all: BlockHeader[] = [];
  let next = 0;
  for (const head of known) {
    if (all.length % CHECK_EVERY === 0 && sliceExpired()) await yieldToEventLoop();
    if (removed.has(head)) continue;
    while (next < added.length && added[next]!.last >= head.last) all.push(added[next++]!);
    all.push(head);
  }
  while (next < added.length) all.push(added[next++]!);
  return all;
}

/** Headers per check of the time slice. */
const CHECK_EVERY = 256;

const emptyState = (build: string): DirectoryState => ({ build, places: new Map(), until: -1n, sorted: [] });
