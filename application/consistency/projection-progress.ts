/** Read-your-writes: what this node has acknowledged, what its projections have seen, and waiting for the gap. */
import { serviceOf } from '../../domain/shared/index.js';
import type { Position, ProjectionProgress } from '../ports/index.js';

/** How long a reader waits before it is answered with `Consistency: pending` (docs/guide/reading.md). */
export const PATIENCE_MS = 2000;
const POLL_MS = 25;
/** The node's own projector has told of something, and is believed to go on, for so many of these: half a second. */
const POLLS_TRUSTED = 20;
/** Streams of a service whose last append is known by itself; of more only the latest of all is known, and waited for. */
const MOST_PENDING = 10_000;

export interface ProjectionProgressTracker extends ProjectionProgress {
  /** An append of this node was acknowledged. */
  appended(stream: string, position: Position): void;
  /** The last event of a service when this node began: what every reader of the node has been told. */
  startedAt(service: string, position: Position): void;
  /** Whether a projection has come to where the log was when this node began. */
  caughtUp(projection: string): Promise<boolean>;
  /** A projection has seen everything up to here. */
  advanced(projection: string, position: Position): void;
  /**
   * Gives a projector time to gather events before it writes: resolves after `ms`, or at once while somebody waits
   * for one of its projections. Batches are cheap where nobody looks, and rows are there at once where somebody does.
   */
  debounceUntilAwaited(projections: readonly string[], ms: number): Promise<void>;
}

/** `stored` reads how far a projection is by its checkpoint, when another node keeps it up. */
export function createProjectionProgress(
  projections: readonly string[],
  stored: (projection: string) => Promise<Position | undefined>,
): ProjectionProgressTracker {
  /** By service, then by stream. */
  const pending = new Map<string, Map<string, Position>>();
  /** By service: the last append to a stream that is not known by itself any more. */
  const forgotten = new Map<string, Position>();
  /** By service: the last append. */
  const newest = new Map<string, Position>();
  const seen = new Map<string, Position>();
  const beginnings = new Map<string, Position>();
  const waiting = new Map<string, Set<{ position: Position; wake: () => void }>>();
  const wanted = new Map<string, () => void>();
  const polling = new Set<string>();
  /** Of those of which this node's own projector has told lately, how often nobody else need be asked. */
  const trusted = new Map<string, number>();

  const has = (projection: string, position: Position) => (seen.get(projection) ?? 0n) >= position;

  /** How far all of a service's projections are. */
  function seenByAll(service: string): Position {
    let least: Position | undefined;
    for (const each of projections) {
      const at = seen.get(each) ?? 0n;
      if (serviceOf(each) === service && (least === undefined || at < least)) least = at;
    }
    return least ?? 0n;
  }

  const pendingOf = (service: string) => {
    const known = pending.get(service) ?? new Map<string, Position>();
    pending.set(service, known);
    return known;
  };

  const reached = (projection: string, position: Position) => {
    if (has(projection, position)) return;
    const service = serviceOf(projection);
    const before = seenByAll(service);
    seen.set(projection, position);
    const least = seenByAll(service);
    // While one of them stands still there may be thousands, and all the others tell of every batch.
    if (least > before)
      for (const [stream, at] of pendingOf(service)) if (at <= least) pendingOf(service).delete(stream);
    for (const waiter of waiting.get(projection) ?? []) if (waiter.position <= position) waiter.wake();
  };

  /** Asks how far another node's projector is, once for all who wait, while anybody does. */
  function poll(projection: string, group: ReadonlySet<unknown>) {
    if (polling.has(projection)) return;
    const timer = setInterval(() => {
      if (group.size === 0) {
        clearInterval(timer);
        polling.delete(projection);
        return;
      }
      const left = trusted.get(projection) ?? 0;
      if (left > 0) return void trusted.set(projection, left - 1);
      stored(projection)
        .then((at) => at !== undefined && reached(projection, at))
        .catch(() => {});
    }, POLL_MS);
    polling.add(projection);
  }

  return {
    advanced(projection, position) {
      trusted.set(projection, POLLS_TRUSTED);
      reached(projection, position);
    },
    startedAt: (service, position) => void beginnings.set(service, position),

    async caughtUp(projection) {
      const beginning = beginnings.get(serviceOf(projection));
      if (beginning === undefined) return false;
      if (!has(projection, beginning)) reached(projection, (await stored(projection)) ?? 0n);
      return has(projection, beginning);
    },

    position: (projection) => seen.get(projection) ?? 0n,
    appended(stream, position) {
      const service = serviceOf(stream);
      if (position > (newest.get(service) ?? 0n)) newest.set(service, position);
      const all = pendingOf(service);
      const known = all.get(stream) ?? 0n;
      all.delete(stream);
      all.set(stream, position > known ? position : known);
      const [oldest] = all;
      if (all.size <= MOST_PENDING || !oldest) return;
      all.delete(oldest[0]);
      if (oldest[1] > (forgotten.get(service) ?? 0n)) forgotten.set(service, oldest[1]);
    },

    latest(streams) {
      let latest = 0n;
      for (const stream of streams) {
        const service = serviceOf(stream);
        const at = pending.get(service)?.get(stream) ?? forgotten.get(service) ?? 0n;
        if (at > latest) latest = at;
      }
      return latest;
    },

    latestOf: (service) => newest.get(service) ?? 0n,

    debounceUntilAwaited(names, ms) {
      if (names.some((each) => (waiting.get(each)?.size ?? 0) > 0)) return Promise.resolve();
      return new Promise((resolve) => {
        const done = () => {
          clearTimeout(timer);
          for (const each of names) wanted.delete(each);
          resolve();
        };
        const timer = setTimeout(done, ms);
        for (const each of names) wanted.set(each, done);
      });
    },

    async wait(projection, asked, mostMs = PATIENCE_MS) {
      const beginning = beginnings.get(serviceOf(projection)) ?? 0n;
      const position = asked > beginning ? asked : beginning;
      if (has(projection, position)) return true;
      const group = waiting.get(projection) ?? new Set();
      waiting.set(projection, group);
      poll(projection, group);
      await new Promise<void>((resolve) => {
        const waiter = { position, wake: () => done() };
        const patience = setTimeout(() => done(), mostMs);
        const done = () => {
          clearTimeout(patience);
          group.delete(waiter);
          resolve();
        };
        group.add(waiter);
        wanted.get(projection)?.();
      });
      return has(projection, position);
    },
  };
}
