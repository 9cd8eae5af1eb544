/** What a node knows of all runs of the index without opening them, kept in step with the rows. */
import type { Db } from 'mongodb';
import type { Position } from '../../../application/ports.js';
import { longOf } from '../../projection.js';
import { ROWS, type SearchRow } from './rows.js';

export interface Head {
  readonly id: string;
  /** Of the run as it is: another one once something of it has changed. */
  readonly key: string;
  readonly channel: string;
  readonly first: Position;
  readonly last: Position;
  readonly isPacked: boolean;
  readonly authors: readonly string[];
}

interface Known {
  readonly build: string;
  readonly heads: Map<string, Head>;
  /** Ids of runs, by place. */
  readonly places: Map<string, Set<string>>;
  /** All that was written up to here is known. */
  until: Position;
  /** The newest first. */
  sorted: readonly Head[];
}

export interface Heads {
  /** The newest first, as the rows are up to where the index is now. */
  all(build: string): Promise<readonly Head[]>;
  /** A run that is no more where it was: what it was packed into is looked for. */
  drop(build: string, head: Head): Promise<void>;
}

export function createHeads(db: Db, position: () => Position): Heads {
  let known: Known | undefined;
  let reading: Promise<unknown> | undefined;
  const texts = new Map<string, string>();

  /** Ids repeat: each is held once. */
  const held = (text: string) => {
    if (texts.size > 500_000) texts.clear();
    const same = texts.get(text) ?? text;
    texts.set(text, same);
    return same;
  };

  async function read(build: string) {
    // Rows beyond this may be written still: they are read again next time.
    const until = position();
    const now = known?.build === build ? known : begun(build);
    const cursor = db
      .collection<SearchRow>(`${build}.${ROWS}`)
      .find({ _at: { $gt: longOf(now.until) } })
      .project<SearchRow>({ docs: 0, filter: 0, ids: 0, threads: 0 });
    let isChanged = false;
    for await (const row of cursor) isChanged = take(now, row) || isChanged;
    now.until = until;
    if (isChanged) now.sorted = [...now.heads.values()].sort((a, b) => (a.last > b.last ? -1 : 1));
    known = now;
  }

  function take({ heads, places }: Known, row: SearchRow): boolean {
    const head = headOf(row);
    const { id, key, channel, first, last, isPacked } = head;
    const before = heads.get(id);
    if (before?.key === key) return false;
    heads.set(id, head);
    const beside = places.get(channel) ?? new Set();
    places.set(channel, beside.add(id));
    if (!isPacked || before?.isPacked) return true;
    // What was packed into it stands by itself no more.
    for (const other of beside) {
      const small = heads.get(other)!;
      if (small.isPacked || small.first < first || small.first > last) continue;
      heads.delete(other);
      beside.delete(other);
    }
    return true;
  }

  const headOf = ({ _id, _at, channel, first, last, packed, authors }: SearchRow): Head => ({
    id: _id,
    key: `${_id} ${_at}`,
    channel: held(channel),
    first: first.toBigInt(),
    last: last.toBigInt(),
    isPacked: packed === true,
    authors: authors.map(held),
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
      const owed = position();
      while (known?.build !== build || known.until < owed) await readNext(build);
      return known.sorted;
    },
    async drop(build, { id, channel }) {
      if (known?.build !== build) return;
      known.heads.delete(id);
      known.places.get(channel)?.delete(id);
      known.sorted = known.sorted.filter((head) => head.id !== id);
      await readNext(build);
    },
  };
}

const begun = (build: string): Known => ({
  build,
  heads: new Map(),
  places: new Map(),
  until: -1n,
  sorted: [],
});
