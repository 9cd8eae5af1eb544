/**
 * Brings what is said into the index: into small runs, which are written again while they fill, and sixteen of which
 * become a large one. Where runs begin and end depends on nothing but what came, so that every build has the same.
 */
import type { Position } from '../../../application/ports.js';
import { type Build, longOf, type RowWrite } from '../../projection.js';
import { type Doc, openDocs, ROWS, type SearchRow, sealDocs, threadOf } from './rows.js';

/** Of a small run, and small runs of a large one. */
const PER_RUN = 16;
const RUNS = 16;
/** Characters after which they are full, however few they are: none is to outgrow a document. */
const RUN_SIZE = 32 * 1024;
const PACKED_SIZE = 128 * 1024;
/** Docs of places that are remembered: those that nothing came to for longest are read again when needed. */
const MOST_REMEMBERED = 20_000;

interface Run {
  readonly id: string;
  readonly first: Position;
  last: Position;
  at: Position;
  added: number;
  /** Characters of those that came into it. */
  size: number;
  docs: Doc[];
}

/** The small runs of a place, in order; the last of them may not be full. */
interface Place {
  readonly channel: string;
  runs: Run[];
  /** Of the last that came. */
  last: Position;
}

export interface Indexing {
  add(channel: string, doc: Doc, position: Position): Promise<void>;
  /**
   * A doc becomes another one, or none, with all of its thread where that is asked for. Once for an event: what is
   * written for it twice does nothing the second time.
   */
  change(
    channel: string,
    of: { readonly id: string; readonly thread?: true },
    position: Position,
    to?: (doc: Doc) => Doc,
  ): Promise<void>;
  forget(channel: string): Promise<void>;
  /** Writes all that was taken. */
  flush(): Promise<void>;
}

const idOf = (channel: string, first: Position) => `${channel} ${first.toString(36).padStart(13, '0')}`;

/** Knows what it has not forgotten from the rows; the only one that may write them while it lives. */
export function startIndexing(build: Build): Indexing {
  const { vault } = build;
  const rows = build.collection<SearchRow>(ROWS);
  /** Those that something came to last at the end. */
  const places = new Map<string, Place>();
  /** To be written, by their ids. */
  const dirty = new Map<
    string,
    { readonly channel: string; readonly run: Run; readonly isPacked: boolean }
  >();
  const removed = new Set<string>();

  async function placeOf(channel: string): Promise<Place> {
    const known = places.get(channel) ?? (await resumed(channel));
    places.delete(channel);
    places.set(channel, known);
    return known;
  }

  async function resumed(channel: string): Promise<Place> {
    const [packed] = await rows.find({ channel, packed: true }).sort({ last: -1 }).limit(1).toArray();
    const end = packed?.last.toBigInt() ?? 0n;
    const small = await rows
      .find({ channel, packed: { $exists: false } })
      .sort({ last: 1 })
      .toArray();
    const runs: Run[] = [];
    for (const row of small) {
      // It was packed, and was to go when a crash came.
      if (row.first.toBigInt() <= end) removed.add(row._id);
      else runs.push(await runOf(row));
    }
    return { channel, runs, last: runs.at(-1)?.last ?? end };
  }

  const runOf = async (row: SearchRow): Promise<Run> => ({
    id: row._id,
    first: row.first.toBigInt(),
    last: row.last.toBigInt(),
    at: row._at.toBigInt(),
    added: row.added,
    size: row.size,
    docs: [...((await openDocs(vault, row)) ?? [])],
  });

  function touched(channel: string, run: Run, isPacked: boolean) {
    dirty.set(run.id, { channel, run, isPacked });
    // The second half of what was packed may be called as a small run was.
    removed.delete(run.id);
  }

  async function add(channel: string, doc: Doc, position: Position) {
    const place = await placeOf(channel);
    if (position <= place.last) return;
    let run = place.runs.at(-1);
    if (!run || isFull(run)) {
      const [first, last, at] = [position, position, position];
      run = { id: idOf(channel, position), first, last, at, added: 0, size: 0, docs: [] };
      place.runs.push(run);
    }
    run.docs.push(doc);
    run.added++;
    run.size += sizeOf([doc]);
    run.last = position;
    run.at = position;
    place.last = position;
    touched(channel, run, false);
    const isMuch = place.runs.length === RUNS || sumOf(place.runs, 'size') >= PACKED_SIZE;
    if (isMuch && isFull(run)) pack(place, position);
  }

  function pack({ channel, runs }: Place, at: Position) {
    const all = runs.splice(0);
    const docs = all.flatMap((each) => each.docs);
    const sums = { added: sumOf(all, 'added'), size: sumOf(all, 'size') };
    for (const { id } of all.slice(1)) {
      dirty.delete(id);
      removed.add(id);
    }
    const { id, first } = all[0]!;
    touched(channel, { id, first, last: at, at, ...sums, docs }, true);
  }

  const change: Indexing['change'] = async (channel, { id, thread }, position, to) => {
    const isMeant = (doc: Doc) =>
      (doc.id === id || (thread && threadOf(doc.id) === id)) && BigInt(doc.changed) < position;
    const changeIn = (run: Run, isPacked: boolean) => {
      if (!run.docs.some(isMeant)) return;
      run.docs = run.docs.flatMap((doc) => (isMeant(doc) ? (to?.(doc) ?? []) : [doc]));
      run.at = position;
      for (const each of isPacked ? split(channel, run) : [run]) touched(channel, each, isPacked);
    };
    for (const run of (await placeOf(channel)).runs) changeIn(run, false);
    // Rows of what is to be written are of before that.
    const waiting = [...dirty.values()].filter((each) => each.isPacked && each.channel === channel);
    for (const { run } of waiting) changeIn(run, true);
    const isWaiting = new Set(dirty.keys());
    const asked = thread ? { $or: [{ ids: id }, { threads: id }] } : { ids: id };
    for await (const row of rows.find({ ...asked, packed: true }))
      if (!isWaiting.has(row._id)) changeIn(await runOf(row), true);
  };

  async function flush() {
    const writes: RowWrite[] = [];
    for (const { channel, run, isPacked } of dirty.values()) {
      const sealed = await sealDocs(vault, channel, run.docs, isPacked);
      const { id: _id, added, size } = run;
      const [_at, first, last] = [longOf(run.at), longOf(run.first), longOf(run.last)];
      // Without the key the row goes.
      if (!sealed) writes.push({ deleteOne: { filter: { _id } } });
      else writes.push(replacing({ _id, _at, channel, first, last, added, size, ...sealed }));
    }
    // What they were packed into stands by then.
    for (const _id of removed) writes.push({ deleteOne: { filter: { _id } } });
    dirty.clear();
    removed.clear();
    await build.write(ROWS, writes);
    let held = 0;
    for (const { runs } of places.values()) held += runs.length * PER_RUN;
    for (const [channel, { runs }] of places) {
      if (held <= MOST_REMEMBERED) break;
      held -= runs.length * PER_RUN;
      places.delete(channel);
    }
  }

  return {
    add,
    change,
    flush,
    async forget(channel) {
      await flush();
      places.delete(channel);
      await build.write(ROWS, [{ deleteMany: { filter: { channel } } }]);
    },
  };
}

const isFull = ({ added, size }: Run): boolean => added === PER_RUN || size >= RUN_SIZE;

const sumOf = (runs: readonly Run[], of: 'added' | 'size'): number =>
  runs.reduce((sum, run) => sum + run[of], 0);

const sizeOf = (docs: readonly Doc[]): number => JSON.stringify(docs).length;

/** Edited to be much longer than they were, they would outgrow the row: two, and so on. */
function split(channel: string, run: Run): readonly Run[] {
  const { docs } = run;
  if (docs.length < 2 || sizeOf(docs) < 2 * PACKED_SIZE) return [run];
  const [here, there] = [docs.slice(0, docs.length / 2), docs.slice(docs.length / 2)];
  const first = BigInt(there[0]!.posted);
  const half = { ...run, id: idOf(channel, first), first, docs: there };
  return [...split(channel, { ...run, docs: here }), ...split(channel, half)];
}

const replacing = (row: SearchRow): RowWrite => ({
  replaceOne: { filter: { _id: row._id, _at: { $lt: row._at } }, replacement: { ...row }, upsert: true },
});
