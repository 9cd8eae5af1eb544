/** Shared subscription: several concurrent readers of the log, for which each event is read and decoded once. */
import type { Batch, Position, RecordedEvent, Selection, Subscribe } from '../../application/ports/index.js';
import { serviceOf } from '../../domain/shared/index.js';
import type { ReadModel } from './projection.js';

type Options = Parameters<Subscribe>[0];

/** One reader's share of a shared subscription. */
export interface Share {
  /**
   * Subscribes together with the others; reading starts once each of them has subscribed or left. Call it once. A slow
   * reader delays the others, a failed one does not.
   */
  readonly follow: Subscribe;
  /** Gives up the share, so that the others need not wait for it. Idempotent. */
  leave(): void;
}

/** Creates `count` shares; their readers must have the same service and batch size. */
export function shareSubscription(follow: Subscribe, count: number): readonly Share[] {
  const readers = new Set<Reader>();
  const stop = new AbortController();
  let pending = count;

  const settleOne = () => {
    if (--pending === 0 && readers.size > 0) void read();
  };

  async function read() {
    try {
      const all = [...readers].map(({ options }) => options);
      const [{ from, atOnce }] = all.sort((a, b) => (at(a.from) < at(b.from) ? -1 : 1)) as [Options];
      const common = { from, signal: stop.signal, ...(atOnce !== undefined && { atOnce }) };
      for await (const batch of follow({ ...unionOf(all), ...common })) {
        for (const reader of readers) reader.push(batch);
        // Waits for all readers, so that no more is read ahead than for one.
        await Promise.all([...readers].map((reader) => reader.ready()));
        if (readers.size === 0) return;
      }
    } catch (error) {
      for (const reader of readers) reader.end(error);
    }
  }

  async function* join(options: Options, onJoin: () => void): AsyncGenerator<Batch> {
    const reader = new Reader(options);
    const end = () => {
      reader.end();
      readers.delete(reader);
      // Before the start, other readers may still join.
      if (readers.size === 0 && pending === 0) stop.abort();
    };
    readers.add(reader);
    options.signal.addEventListener('abort', end);
    if (options.signal.aborted) end();
    onJoin();
    try {
      for (let batch = await reader.next(); batch; batch = await reader.next()) yield batch;
    } finally {
      options.signal.removeEventListener('abort', end);
      end();
    }
  }

  return Array.from({ length: count }, () => {
    let isSettled = false;
    const leave = () => {
      if (!isSettled) settleOne();
      isSettled = true;
    };
    return { follow: (options) => join(options, leave), leave };
  });
}

/** Creates one shared subscription per service and batch size; returns the share of each read model. */
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

/** Returns the union of selections. */
function unionOf(all: readonly Selection[]): Selection {
  const prefixes = unique(all.flatMap((each) => ('prefixes' in each ? each.prefixes : [])));
  if (prefixes.length > 0) return { prefixes };
  const types = unique(all.flatMap((each) => ('types' in each ? each.types : [])));
  const [service = ''] = all.flatMap((each) => ('service' in each ? each.service : []));
  return { service, types };
}

const at = (from: Position | 'start'): Position => (from === 'start' ? -1n : from);
const unique = (all: readonly string[]) => [...new Set(all)];

/** Receives one batch at a time, filtered by its selection. */
class Reader {
  readonly #isSelected: (event: RecordedEvent) => boolean;
  /** Resolves the pending `next`, if any. */
  #resolveNext: ((batch: Batch | undefined) => void) | undefined;
  #notifyReady: () => void = () => {};
  #isEnded = false;
  #error: unknown;

  constructor(readonly options: Options) {
    const from = at(options.from);
    const types = 'types' in options ? new Set(options.types) : undefined;
    this.#isSelected = ({ position, type }) => position > from && (types?.has(type) ?? true);
  }

  /** Returns the next batch; undefined at the end. Throws the error that ended the subscription. */
  async next(): Promise<Batch | undefined> {
    if (!this.#isEnded) {
      const batch = await new Promise<Batch | undefined>((resolve) => {
        this.#resolveNext = resolve;
        this.#notifyReady();
      });
      if (batch) return batch;
    }
    if (this.#error !== undefined) throw this.#error;
    return undefined;
  }

  /** Resolves when the reader has processed its batch or has ended. */
  ready(): Promise<void> | undefined {
    if (this.#resolveNext || this.#isEnded) return undefined;
    return new Promise((resolve) => {
      this.#notifyReady = resolve;
    });
  }

  push({ events, position, caughtUp }: Batch) {
    const from = at(this.options.from);
    // The reader starts later in the log than others.
    const isBefore = position === undefined || position <= from;
    if (isBefore && !caughtUp) return;
    const selected = events.filter(this.#isSelected);
    this.#deliver({ events: selected, caughtUp, ...(!isBefore && { position }) });
  }

  end(error?: unknown) {
    this.#error = error;
    this.#isEnded = true;
    this.#deliver(undefined);
    this.#notifyReady();
  }

  #deliver(batch: Batch | undefined) {
    const resolve = this.#resolveNext;
    this.#resolveNext = undefined;
    resolve?.(batch);
  }
}
