/**
 * Writes the search index: messages go into small runs, rewritten while they fill; 16 runs make a pack. Boundaries
 * depend only on the events, so every build has the same.
 */
import type { Position } from '../../../application/ports/index.js';
import { type Build, longOf, type RowWrite } from '../../kernel/index.js';
import { startPacks } from './blocks.js';
import { type Doc, idOf, openDocs, PACKS, RUNS, type RunRow, sealDocs, threadOf } from './rows.js';

const PER_RUN = 16;
const PER_PACK = 16;
/** Characters after which a run or pack is full; keeps rows below the document limit. */
const RUN_SIZE = 32 * 1024;
const PACK_SIZE = 128 * 1024;
/** Docs cached; those of the least recently used channels are read again when needed. */
const MAX_CACHED_DOCS = 20_000;

interface Run {
  readonly id: string;
  readonly channel: string;
  readonly first: Position;
  last: Position;
  at: Position;
  /** Characters of all docs added. */
  size: number;
  /** Undefined when only the row has them: loaded again on demand. */
  docs: Doc[] | undefined;
  isFull: boolean;
  isOpen: boolean;
}

/** Open runs of a channel, in order; only the last may have room. */
interface ChannelRuns {
  readonly channel: string;
  runs: Run[];
  last: Position;
}

export interface IndexWriter {
  add(channel: string, doc: Doc, position: Position): Promise<void>;
  /**
   * Replaces or deletes a doc, with `thread` also all replies to it. Call once per event: a second call for the same
   * event has no effect.
   */
  change(
    channel: string,
    of: { readonly id: string; readonly thread?: true },
    position: Position,
    to?: (doc: Doc) => Doc,
  ): Promise<void>;
  forget(channel: string): Promise<void>;
  flush(): Promise<void>;
}

/** Starts a writer, which loads its state from the rows. There must be only one writer per build. */
export function startIndexWriter(build: Build, maxCachedDocs = MAX_CACHED_DOCS): IndexWriter {
  const { vault } = build;
  const rows = build.collection<RunRow>(RUNS);
  const packs = startPacks(build);
  /** Channels, least recently used first. */
  const places = new Map<string, ChannelRuns>();
  const dirty = new Map<string, Run>();
  /** Runs that are now in a pack and must be marked closed. */
  const closing = new Set<Run>();

  async function loadChannel(channel: string, position: Position): Promise<ChannelRuns> {
    const known = places.get(channel) ?? (await restoreChannel(channel, position));
    places.delete(channel);
    places.set(channel, known);
    return known;
  }

  async function restoreChannel(channel: string, position: Position): Promise<ChannelRuns> {
    const end = await packs.end(channel);
    const place: ChannelRuns = { channel, runs: [], last: end };
    for (const row of await rows.find({ channel, open: true }).sort({ first: 1 }).toArray()) {
      const run = await loadRun(row);
      // Packed before a crash, but not yet closed.
      if (run.first <= end) closing.add(run);
      else {
        place.runs.push(run);
        place.last = run.last;
        // The crash may have come before the runs were packed.
        await pack(place, position);
      }
    }
    return place;
  }

  async function pack({ channel, runs }: ChannelRuns, position: Position) {
    const isPackSize = runs.length === PER_PACK || sizeOf(runs) >= PACK_SIZE;
    if (!isPackSize || !runs.at(-1)!.isFull) return;
    await loadDocs(runs);
    packs.add(channel, runs.map(withDocs), position);
    for (const run of runs.splice(0)) closing.add(run);
  }

  async function loadDocs(runs: readonly Run[]) {
    const _id = { $in: runs.flatMap(({ id, docs }) => (docs ? [] : id)) };
    if (_id.$in.length === 0) return;
    const found = new Map((await rows.find({ _id }).toArray()).map((row) => [row._id, row]));
    for (const run of runs) {
      const row = found.get(run.id);
      // A missing row was deleted with the channel's key.
      run.docs ??= row ? await decryptDocs(row) : [];
    }
  }

  const decryptDocs = async (row: RunRow): Promise<Doc[]> => [...((await openDocs(vault, row)) ?? [])];

  const loadRun = async (row: RunRow): Promise<Run> => {
    const docs = await decryptDocs(row);
    return {
      id: row._id,
      channel: row.channel,
      first: row.first.toBigInt(),
      last: row.last.toBigInt(),
      at: row._at.toBigInt(),
      size: row.size,
      docs,
      isFull: isFull(docs.length, row.size),
      isOpen: row.open === true,
    };
  };

  async function add(channel: string, doc: Doc, position: Position) {
    const place = await loadChannel(channel, position);
    if (position <= place.last) return;
    let run = place.runs.at(-1);
    if (!run || run.isFull) {
      const span = { first: position, last: position, at: position };
      run = { id: idOf(channel, position), channel, ...span, size: 0, docs: [], isFull: false, isOpen: true };
      place.runs.push(run);
    }
    run.docs!.push(doc);
    run.size += JSON.stringify(doc).length;
    run.isFull = isFull(run.docs!.length, run.size);
    run.last = position;
    run.at = position;
    place.last = position;
    dirty.set(run.id, run);
    await pack(place, position);
  }

  const change: IndexWriter['change'] = async (channel, { id, thread }, position, to) => {
    const isTarget = (doc: Doc) => doc.id === id || (thread && threadOf(doc.id) === id);
    const changeRun = async (run: Run, isPacked: boolean) => {
      if (!run.docs!.some((doc) => isTarget(doc) && BigInt(doc.changed) <= position)) return;
      const changed = (doc: Doc) => (to ? to(doc) : deletedDoc(doc, position));
      run.docs = run.docs!.map((doc) => (isTarget(doc) && BigInt(doc.changed) < position ? changed(doc) : doc));
      if (run.at < position) run.at = position;
      dirty.set(run.id, run);
      // Packs are written after runs, so a crash may have left this change undone in the pack.
      if (isPacked) await packs.change(channel, withDocs(run), position);
    };
    const { runs } = await loadChannel(channel, position);
    await loadDocs(runs);
    for (const run of runs) await changeRun(run, false);
    const known = new Set(runs.map((run) => run.id));
    // The rows of pending runs are outdated.
    for (const run of [...dirty.values(), ...closing]) {
      if (run.channel !== channel || known.has(run.id)) continue;
      known.add(run.id);
      await changeRun(run, true);
    }
    // Two queries, as a store may scan the whole collection for an `$or` of two indexes.
    for (const filter of thread ? [{ ids: id }, { threads: id }] : [{ ids: id }])
      for await (const row of rows.find(filter)) {
        if (known.has(row._id)) continue;
        known.add(row._id);
        await changeRun(await loadRun(row), true);
      }
  };

  async function flush() {
    const writes: RowWrite[] = [];
    for (const run of dirty.values()) writes.push(await writeOf(run));
    dirty.clear();
    await build.write(RUNS, writes);
    // Writes packs before closing their runs, which are searched until then.
    await build.write(PACKS, await packs.writes());
    await build.write(
      RUNS,
      [...closing].map(({ id: _id }) => ({
        updateOne: { filter: { _id }, update: { $unset: { open: '' } } },
      })),
    );
    for (const run of closing) run.isOpen = false;
    closing.clear();
    evict();
  }

  /** Evicts the least recently used channels: first the docs of full runs, then whole channels. */
  function evict() {
    let cached = 0;
    for (const { runs } of places.values()) cached += weightOf(runs);
    for (const { runs } of places.values()) {
      if (cached <= maxCachedDocs) return;
      cached -= weightOf(runs);
      for (const run of runs) if (run.isFull) run.docs = undefined;
      cached += weightOf(runs);
    }
    for (const [channel, { runs }] of places) {
      if (cached <= maxCachedDocs) return;
      cached -= weightOf(runs);
      places.delete(channel);
    }
  }

  async function writeOf({ id: _id, channel, docs, size, isOpen, ...run }: Run): Promise<RowWrite> {
    const sealed = await sealDocs(vault, channel, docs!);
    // The row goes with the key.
    if (!sealed) return { deleteOne: { filter: { _id } } };
    const [_at, first, last] = [longOf(run.at), longOf(run.first), longOf(run.last)];
    const open = isOpen && { open: true as const };
    const replacement = { _id, _at, channel, first, last, size, ...sealed, ...open };
    return { replaceOne: { filter: { _id, _at: { $lt: _at } }, replacement, upsert: true } };
  }

  return {
    add,
    change,
    flush,
    async forget(channel) {
      await flush();
      places.delete(channel);
      for (const part of [RUNS, PACKS]) await build.write(part, [{ deletePieces: { filter: { channel } } }]);
    },
  };
}

const isFull = (docs: number, size: number): boolean => docs === PER_RUN || size >= RUN_SIZE;

const weightOf = (runs: readonly Run[]): number => runs.reduce((sum, { docs }) => sum + 1 + (docs?.length ?? 0), 0);

const withDocs = (run: Run) => ({ ...run, docs: run.docs! });

const sizeOf = (runs: readonly Run[]): number => runs.reduce((sum, { size }) => sum + size, 0);

const deletedDoc = ({ id, author, createdAt, posted }: Doc, position: Position): Doc => ({
  id,
  author,
  createdAt,
  posted,
  changed: String(position),
  content: '',
  gone: true,
});
