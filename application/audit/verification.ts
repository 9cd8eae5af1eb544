/** Verifies a transparency log: its tree against the signed checkpoint, and the event log against its entries. */
import type { Batch, Position } from '../ports/index.js';
import { untilCaughtUp } from '../subscription/index.js';
import type { Checkpoint } from './checkpoint.js';
import {
  type AuditEntry,
  type EventEntry,
  eventEntry,
  parseAuditEntry,
  positionOf,
  type StoredEvent,
} from './log-entry.js';
import { rootOf } from './merkle-tree.js';
import {
  createTileWriter,
  decodeBundle,
  HASH_BYTES,
  type ReadTile,
  TILE_WIDTH,
  tilePath,
  type WrittenTile,
} from './tiles.js';
import type { Restart } from './tree-store.js';

/** What is wrong with a transparency log or with the event log, at the first place that differs. */
export class Difference extends Error {
  override readonly name = 'Difference';

  constructor(
    reason: string,
    /** Of the entry in the tree. */
    readonly index: number | undefined,
    /** Of the event in the log. */
    readonly position: Position | string | undefined,
  ) {
    const at = [
      index === undefined ? [] : `entry ${index}`,
      position === undefined ? [] : `position ${position}`,
    ].flat();
    super(at.length === 0 ? reason : `${reason} (${at.join(', ')})`);
  }
}

export interface IndexedEntry {
  readonly index: number;
  readonly entry: AuditEntry;
}

/**
 * Yields the entries of a tree, bundle by bundle, and checks them: every tile is computed again and compared, at the end
 * with the root of the checkpoint. Throws `Difference` at the first entry that differs.
 */
export async function* verifyTree({ size, root }: Checkpoint, read: ReadTile): AsyncGenerator<readonly IndexedEntry[]> {
  const writer = createTileWriter();
  let last = -1n;
  for (let index = 0; index * TILE_WIDTH < size; index++) {
    const first = index * TILE_WIDTH;
    const width = Math.min(TILE_WIDTH, size - first);
    const path = tilePath({ level: 'entries', index }, width);
    const bundle = await read({ level: 'entries', index }, width);
    const lines = bundle && decodeBundle(bundle)?.slice(0, width);
    if (lines?.length !== width) throw new Difference(`${path} is missing or malformed`, first, undefined);
    for (const line of lines) writer.append(line);
    const entries = lines.map((line, offset): IndexedEntry => {
      const entry = parseAuditEntry(line);
      if (!entry) throw new Difference('an entry is malformed', first + offset, undefined);
      return { index: first + offset, entry };
    });
    const isLast = first + width === size;
    await compareTiles(isLast ? writer.takeTiles() : writer.takeFullTiles(), entries, read);
    for (const { index, entry } of entries) {
      const position = positionOf(entry);
      if ('position' in entry && position! <= last)
        throw new Difference('entries are not in the order of the log', index, position);
      last = position ?? last;
    }
    yield entries;
  }
  if (!(await rootOf(size, writer.edge())).equals(root))
    throw new Difference('the tree does not have the root of the checkpoint', undefined, undefined);
}

async function compareTiles(tiles: readonly WrittenTile[], entries: readonly IndexedEntry[], read: ReadTile) {
  for (const tile of tiles) {
    if (tile.level === 'entries') continue;
    const bytes = await read(tile, tile.width);
    const stored = bytes?.subarray(0, tile.bytes.length);
    if (stored?.equals(tile.bytes)) continue;
    const path = tilePath(tile, tile.width);
    if (stored?.length !== tile.bytes.length)
      throw new Difference(`${path} is missing or too short`, undefined, undefined);
    const at = Array.from({ length: tile.width }, (_, index) => index * HASH_BYTES).find(
      (start) => tile.bytes.compare(stored, start, start + HASH_BYTES, start, start + HASH_BYTES) !== 0,
    )!;
    const offset = at / HASH_BYTES;
    if (tile.level > 0) throw new Difference(`${path} differs from the tiles below`, undefined, undefined);
    const { index, entry } = entries[offset]!;
    throw new Difference(`the entry does not have the hash in ${path}`, index, positionOf(entry));
  }
}

interface MissingEvents {
  readonly count: number;
  readonly first: MissingEvent;
  readonly last: MissingEvent;
}

type MissingEvent = IndexedEntry & { readonly entry: EventEntry };

export interface LogComparison {
  /** Events that are in both. */
  readonly events: number;
  /** Events that the log no longer has, by stream. */
  readonly missing: ReadonlyMap<string, MissingEvents>;
  /** Streams whose deletion is an entry. */
  readonly deleted: ReadonlySet<string>;
  /** Events after the last entry. */
  readonly uncovered: number;
  /** Entries of events that were lost when the log was restored from a backup. */
  readonly lost: number;
}

export interface CompareOptions {
  /** Restarts in the store's head, which is not signed; each must be an entry. */
  readonly restarts: readonly Restart[];
  /** Called with the position of each event that agrees. */
  readonly onMatch?: (position: Position) => void;
}

/**
 * Compares the event log with entries, both in order. Throws `Difference` at the first event that differs or has no entry.
 *
 * @param log Batches from the start; read until one says that it has caught up. Rejects with `UnavailableError` if the store is silent.
 */
export async function compareLog(
  bundles: AsyncIterable<readonly IndexedEntry[]>,
  log: AsyncIterable<Batch<StoredEvent>>,
  { restarts, onMatch }: CompareOptions,
): Promise<LogComparison> {
  const missing = new Map<string, MissingEvents>();
  const deleted = new Set<string>();
  const recorded = new Map<number, Position>();
  let [events, lost, uncovered] = [0, 0, 0];
  const iterator = untilCaughtUp(log)[Symbol.asyncIterator]();
  let page: readonly StoredEvent[] = [];
  let at = 0;
  /** Next event of the log; undefined at its end. */
  const peek = async () => {
    while (at >= page.length) {
      const next = await iterator.next();
      if (next.done) return undefined;
      [page, at] = [next.value.events, 0];
    }
    return page[at];
  };

  for await (const bundle of bundles)
    for (const { index, entry } of bundle) {
      if ('restart' in entry) recorded.set(index, BigInt(entry.restart));
      if (!('position' in entry)) continue;
      const position = BigInt(entry.position);
      if (restarts.some((restart) => index < restart.index && position > restart.position)) {
        lost++;
        continue;
      }
      if (entry.type === '$streamDeleted') deleted.add(entry.stream);
      const event = await peek();
      if (event && event.position < position) throw added(event);
      if (event?.position !== position) {
        const last = { index, entry };
        const { count, first } = missing.get(entry.stream) ?? { count: 0, first: last };
        missing.set(entry.stream, { count: count + 1, first, last });
        continue;
      }
      at++;
      events++;
      const stored = eventEntry(event);
      const [changed] = Object.entries(stored).filter(([name, value]) => entry[name as keyof EventEntry] !== value);
      if (changed) throw new Difference(`the ${changed[0]} of the event was changed`, index, position);
      onMatch?.(position);
    }
  const forged = restarts.find(({ index, position }) => recorded.get(index) !== position);
  if (forged) throw new Difference('a restart in the head of the store is no entry', forged.index, forged.position);
  for (; await peek(); at++) uncovered++;
  return { events, missing, deleted, uncovered, lost };
}

/** Events that the log no longer has. */
export interface Removed {
  /** Of deleted streams. */
  readonly deleted: number;
  /** By the rule of their stream: a number of events, an age or a first revision. */
  readonly expired: number;
}

/**
 * Accounts for missing events. Throws `Difference` for one that no deletion or rule explains; a rule removes events from the
 * start of a stream only.
 *
 * @param firstRevision Of a stream as it is now.
 */
export async function explainMissing(
  { missing, deleted }: LogComparison,
  firstRevision: (stream: string) => Promise<number | 'missing' | 'deleted'>,
  hasRule: (stream: string) => Promise<boolean>,
): Promise<Removed> {
  const removed = { deleted: 0, expired: 0 };
  for (const [stream, { count, first, last }] of missing) {
    const start = deleted.has(stream) ? 'deleted' : await firstRevision(stream);
    if (start === 'deleted') {
      removed.deleted += count;
      continue;
    }
    const isRuled = await hasRule(stream);
    const isHole = start !== 'missing' && BigInt(last.entry.revision) > BigInt(start);
    if (isRuled && !isHole) removed.expired += count;
    else {
      const { index, entry } = isRuled ? last : first;
      throw new Difference(`an event is missing from ${stream}`, index, entry.position);
    }
  }
  return removed;
}

const added = ({ position, stream }: StoredEvent) =>
  new Difference(`an event was added to ${stream}; it has no entry`, undefined, position);
