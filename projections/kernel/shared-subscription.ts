/** One reading of the log for several who go through it at once: each event is read, and made sense of, once. */
import type { Batch, Position, RecordedEvent, Selection, Subscribe } from '../../application/ports/index.js';
import { serviceOf } from '../../domain/shared/index.js';
import type { ReadModel } from './projection.js';

type Options = Parameters<Subscribe>[0];

/** Of one of those who read together. */
export interface Share {
  /**
   * Follows with the others, from when each of them follows or has left; to be called once. Who takes long with a
   * batch holds up the others, who fails does not.
   */
  readonly follow: Subscribe;
  /** Not to be waited for; as often as you like. */
  leave(): void;
}

/** So many shares. They must be of one service, and take as many events at once. */
export function shareSubscription(follow: Subscribe, count: number): readonly Share[] {
  const readers = new Set<Reader>();
  const stop = new AbortController();
  let awaited = count;

  const isKnown = () => {
    if (--awaited === 0 && readers.size > 0) void read();
  };

  async function read() {
    try {
      const all = [...readers].map(({ options }) => options);
      const [{ from, atOnce }] = all.sort((a, b) => (at(a.from) < at(b.from) ? -1 : 1)) as [Options];
      const common = { from, signal: stop.signal, ...(atOnce !== undefined && { atOnce }) };
      for await (const batch of follow({ ...allOf(all), ...common })) {
        for (const reader of readers) reader.give(batch);
        // No further than all have come: what is read ahead stays what one reader would hold.
        await Promise.all([...readers].map((reader) => reader.asks()));
        if (readers.size === 0) return;
      }
    } catch (error) {
      for (const reader of readers) reader.end(error);
    }
  }

  async function* readBy(options: Options, joined: () => void): AsyncGenerator<Batch> {
    const reader = new Reader(options);
    const end = () => {
      reader.end();
      readers.delete(reader);
      // Before it has begun there may be others to come.
      if (readers.size === 0 && awaited === 0) stop.abort();
    };
    readers.add(reader);
    options.signal.addEventListener('abort', end);
    if (options.signal.aborted) end();
    joined();
    try {
      for (let batch = await reader.next(); batch; batch = await reader.next()) yield batch;
    } finally {
      options.signal.removeEventListener('abort', end);
      end();
    }
  }

  return Array.from({ length: count }, () => {
    let isCounted = false;
    const leave = () => {
      if (!isCounted) isKnown();
      isCounted = true;
    };
    return { follow: (options) => readBy(options, leave), leave };
  });
}

/** For each of these a share in what is read for those of its service that take as many events at once. */
export function sharesOf(follow: Subscribe, models: readonly ReadModel[]): ReadonlyMap<ReadModel, Share> {
  const groups = new Map<string, ReadModel[]>();
  for (const model of models) {
    const key = `${serviceOf(model.name)} ${'open' in model ? (model.batchSize ?? '') : ''}`;
    groups.set(key, [...(groups.get(key) ?? []), model]);
  }
  const shares = [...groups.values()].map((group) => {
    const all = shareSubscription(follow, group.length);
    return group.map((model, index) => [model, all[index]!] as const);
  });
  return new Map(shares.flat());
}

/** What is selected by any of them. */
function allOf(all: readonly Selection[]): Selection {
  const prefixes = unique(all.flatMap((each) => ('prefixes' in each ? each.prefixes : [])));
  if (prefixes.length > 0) return { prefixes };
  const types = unique(all.flatMap((each) => ('types' in each ? each.types : [])));
  const [service = ''] = all.flatMap((each) => ('service' in each ? each.service : []));
  return { service, types };
}

const at = (from: Position | 'start'): Position => (from === 'start' ? -1n : from);
const unique = (all: readonly string[]) => [...new Set(all)];

/** Takes one batch at a time, of it what it asked for. */
class Reader {
  readonly #isWanted: (event: RecordedEvent) => boolean;
  /** Of what it has asked for and not got. */
  #take: ((batch: Batch | undefined) => void) | undefined;
  #asked: () => void = () => {};
  #isOver = false;
  #error: unknown;

  constructor(readonly options: Options) {
    const from = at(options.from);
    const types = 'types' in options ? new Set(options.types) : undefined;
    this.#isWanted = ({ position, type }) => position > from && (types?.has(type) ?? true);
  }

  /** Undefined at the end; rejects with what ended it, if that was an error. */
  async next(): Promise<Batch | undefined> {
    if (!this.#isOver) {
      const batch = await new Promise<Batch | undefined>((resolve) => {
        this.#take = resolve;
        this.#asked();
      });
      if (batch) return batch;
    }
    if (this.#error !== undefined) throw this.#error;
    return undefined;
  }

  /** Resolves when it wants more, or nothing ever again. */
  asks(): Promise<void> | undefined {
    if (this.#take || this.#isOver) return undefined;
    return new Promise((resolve) => {
      this.#asked = resolve;
    });
  }

  give({ events, position, caughtUp }: Batch) {
    const from = at(this.options.from);
    // It has been further on than this: to it nothing has come yet.
    const isBefore = position === undefined || position <= from;
    if (isBefore && !caughtUp) return;
    const news = events.filter(this.#isWanted);
    this.#answer({ events: news, caughtUp, ...(!isBefore && { position }) });
  }

  end(error?: unknown) {
    this.#error = error;
    this.#isOver = true;
    this.#answer(undefined);
    this.#asked();
  }

  #answer(batch: Batch | undefined) {
    const take = this.#take;
    this.#take = undefined;
    take?.(batch);
  }
}
