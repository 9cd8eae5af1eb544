/** Keeps the headers of all open runs and packs of the search index in memory, in step with the rows. */
import type { Db } from 'mongodb';
import { createSingleFlight, sliceExpired, yieldToEventLoop } from '../../../application/concurrency/index.js';
import type { Position } from '../../../application/ports/index.js';
import { longOf } from '../../kernel/index.js';
import { PACKS, type PackRow, RUNS, type RunRow } from './rows.js';

export interface BlockHeader {
  readonly id: string;
  /** Position of the last event that changed the block. */
  readonly at: Position;
  readonly key: string;
  readonly channel: string;
  readonly first: Position;
  readonly last: Position;
  readonly isPack: boolean;
  readonly authors: readonly string[];
}

interface ChannelBlocks {
  readonly packs: Map<string, BlockHeader>;
  readonly runs: Map<string, BlockHeader>;
  /** Messages up to here are in packs. */
  end: Position;
}

interface DirectoryState {
  readonly build: string;
  readonly places: Map<string, ChannelBlocks>;
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
  let state: DirectoryState | undefined;
  const singleFlight = createSingleFlight();
  const interned = new Map<string, string>();

  const intern = (text: string) => {
    if (interned.size > 500_000) interned.clear();
    const same = interned.get(text) ?? text;
    interned.set(text, same);
    return same;
  };

  async function read(build: string) {
    // Rows beyond this position may still be written; they are read again next time.
    const until = position();
    const next = state?.build === build ? state : emptyState(build);
    const since = { $gt: longOf(next.until) };
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
        applyHeader(next, headerOf(build, row, isPack), added, removed);
      }
    // A row changed during the reads may be seen in both versions.
    const current = added.filter((header) => !removed.has(header));
    if (current.length > 0) next.sorted = await mergeSorted(next.sorted, current, removed);
    // Set last, so that concurrent callers wait until the rows are merged.
    next.until = until;
    state = next;
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

  return {
    async all(build) {
      const required = position();
      // A read that others have begun may not have come far enough, or be of another build.
      while (state?.build !== build || state.until < required) await singleFlight('read', () => read(build));
      return state.sorted;
    },
  };
}

/** Applies a changed header; collects added headers and those they replace. */
function applyHeader(
  { places }: DirectoryState,
  header: BlockHeader,
  added: BlockHeader[],
  removed: Set<BlockHeader>,
): void {
  const place = places.get(header.channel) ?? { packs: new Map(), runs: new Map(), end: 0n };
  places.set(header.channel, place);
  // Packed since it was read.
  if (!header.isPack && header.first <= place.end) return;
  const siblings = header.isPack ? place.packs : place.runs;
  const before = siblings.get(header.id);
  if (before?.key === header.key) return;
  if (before) removed.add(before);
  siblings.set(header.id, header);
  added.push(header);
  if (!header.isPack || header.last <= place.end) return;
  place.end = header.last;
  for (const run of place.runs.values()) {
    if (run.first > place.end) continue;
    removed.add(run);
    place.runs.delete(run.id);
  }
}

/** Merges few changes into a long sorted list, newest first. */
async function mergeSorted(
  sorted: readonly BlockHeader[],
  added: BlockHeader[],
  removed: ReadonlySet<BlockHeader>,
): Promise<readonly BlockHeader[]> {
  added.sort((a, b) => (a.last > b.last ? -1 : 1));
  const all: BlockHeader[] = [];
  let next = 0;
  for (const header of sorted) {
    if (all.length % CHECK_EVERY === 0 && sliceExpired()) await yieldToEventLoop();
    if (removed.has(header)) continue;
    while (next < added.length && added[next]!.last >= header.last) all.push(added[next++]!);
    all.push(header);
  }
  while (next < added.length) all.push(added[next++]!);
  return all;
}

const CHECK_EVERY = 256;

const emptyState = (build: string): DirectoryState => ({ build, places: new Map(), until: -1n, sorted: [] });
