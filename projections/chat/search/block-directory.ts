/** What a node knows of all open runs and packs of the index without opening them, kept in step with the rows. */
import type { Db } from 'mongodb';
import { sliceExpired, yieldToEventLoop } from '../../../application/concurrency/index.js';
import type { Position } from '../../../application/ports/index.js';
import { longOf } from '../../kernel/index.js';
import { PACKS, type PackRow, RUNS, type RunRow } from './rows.js';

export interface BlockHeader {
  readonly id: string;
  /** Position of what changed it last. */
  readonly at: Position;
  /** Of it as it is: another one once something of it has changed. */
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
  /** What came up to here is in packs. */
  end: Position;
}

interface DirectoryState {
  readonly build: string;
  readonly places: Map<string, Place>;
  /** All that was written up to here is known. */
  until: Position;
  /** The newest first. */
  sorted: readonly BlockHeader[];
}

export interface BlockDirectory {
  /** The newest first, as the rows are up to where the index is now. */
  all(build: string): Promise<readonly BlockHeader[]>;
}

type HeaderRow = Pick<PackRow, '_id' | '_at' | 'channel' | 'first' | 'last' | 'authors'>;
const FIELDS = { _at: 1, channel: 1, first: 1, last: 1, authors: 1 } as const;

/** Of one build alone: that another has the same id, changed last by the same, tells nothing of what is in it. */
export const keyOf = (build: string, isPack: boolean, { _id, _at }: Pick<HeaderRow, '_id' | '_at'>): string =>
  `${build} ${isPack ? 'pack' : 'run'} ${_id} ${_at}`;

export function createBlockDirectory(db: Db, position: () => Position): BlockDirectory {
  let known: DirectoryState | undefined;
  let reading: Promise<unknown> | undefined;
  const texts = new Map<string, string>();

  /** Ids repeat: each is held once. */
  const intern = (text: string) => {
    if (texts.size > 500_000) texts.clear();
    const same = texts.get(text) ?? text;
    texts.set(text, same);
    return same;
  };

  async function read(build: string) {
    // Rows beyond this may be written still: they are read again next time.
    const until = position();
    const now = known?.build === build ? known : emptyState(build);
    const since = { $gt: longOf(now.until) };
    // Runs first: what is packed meanwhile is met once more then, and never missed.
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
    // A row that changes while rows are read may be met twice: as it was, and as it is.
    const mergeNewest = added.filter((head) => !removed.has(head));
    if (mergeNewest.length > 0) now.sorted = await mergeSorted(now.sorted, mergeNewest, removed);
    // Not before: whoever comes while these are brought in is to wait for them.
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

  /** One at a time: who comes while one reads may be owed more than it sees. */
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

/** What is other than it was is told, and what it takes the place of. */
function applyHeader(
  { places }: DirectoryState,
  head: BlockHeader,
  added: BlockHeader[],
  removed: Set<BlockHeader>,
): void {
  const place = places.get(head.channel) ?? { packs: new Map(), runs: new Map(), end: 0n };
  places.set(head.channel, place);
  // It was packed after it was read.
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

/** The newest first, without what is gone: there may be many, of which few are others each time. */
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

/** Of what takes less than it takes to look at the time. */
const CHECK_EVERY = 256;

const emptyState = (build: string): DirectoryState => ({ build, places: new Map(), until: -1n, sorted: [] });
