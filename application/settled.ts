/** Read-your-writes: what this node has acknowledged, what its projections have seen, and waiting for the gap. */
import type { Position, Settled } from './ports.js';

/** How long a reader waits before it is answered with `Consistency: pending` (docs/reading.md). */
const PATIENCE_MS = 2000;
const POLL_MS = 25;
/** Streams whose last append is known by itself; of more only the latest of all is known, and waited for. */
const MOST_PENDING = 10_000;

export interface SettledTracker extends Settled {
  /** An append of this node was acknowledged. */
  appended(stream: string, position: Position): void;
  /** The last event of a service when this node began: what every reader of the node has been told. */
  began(service: string, position: Position): void;
  /** How far the projections of a service are by their checkpoints, whichever node keeps them up. */
  stored(service: string): Promise<Position | undefined>;
  /** Whether the projections of a service have come to where the log was when this node began. */
  caughtUp(service: string): Promise<boolean>;
  /** The projections of a service have seen everything up to here. */
  reached(service: string, position: Position): void;
  /**
   * Gives a projector time to gather events before it writes: resolves after `ms`, or at once while somebody waits
   * for the service. Batches are cheap where nobody looks, and rows are there at once where somebody does.
   */
  untilWanted(service: string, ms: number): Promise<void>;
}

/** `stored` reads how far a service's projections are when another node runs them. */
export function createSettled(stored: (service: string) => Promise<Position | undefined>): SettledTracker {
  const pending = new Map<string, Position>();
  /** By service: the last append to a stream that is not known by itself any more. */
  const forgotten = new Map<string, Position>();
  const seen = new Map<string, Position>();
  const beginnings = new Map<string, Position>();
  const waiting = new Map<string, Set<{ position: Position; wake: () => void }>>();
  const wanted = new Map<string, () => void>();
  const polling = new Set<string>();
  /** Services of which this node's own projector has told since they were asked about: nobody else need be asked. */
  const toldHere = new Set<string>();

  const has = (service: string, position: Position) => (seen.get(service) ?? 0n) >= position;

  const reached = (service: string, position: Position) => {
    if (has(service, position)) return;
    seen.set(service, position);
    for (const [stream, at] of pending) {
      if (at <= position && stream.startsWith(`${service}.`)) pending.delete(stream);
    }
    for (const waiter of waiting.get(service) ?? []) if (waiter.position <= position) waiter.wake();
  };

  /** Asks how far another node's projector is, once for all who wait, while anybody does. */
  function poll(service: string, group: ReadonlySet<unknown>) {
    if (polling.has(service)) return;
    const timer = setInterval(() => {
      if (group.size === 0) {
        clearInterval(timer);
        polling.delete(service);
        return;
      }
      if (toldHere.delete(service)) return;
      stored(service)
        .then((at) => at !== undefined && reached(service, at))
        .catch(() => {});
    }, POLL_MS);
    polling.add(service);
  }

  return {
    reached(service, position) {
      toldHere.add(service);
      reached(service, position);
    },
    stored,
    began: (service, position) => void beginnings.set(service, position),

    async caughtUp(service) {
      const beginning = beginnings.get(service);
      if (beginning === undefined) return false;
      if (!has(service, beginning)) reached(service, (await stored(service)) ?? 0n);
      return has(service, beginning);
    },

    position: (service) => seen.get(service) ?? 0n,
    appended(stream, position) {
      const known = pending.get(stream) ?? 0n;
      pending.delete(stream);
      pending.set(stream, position > known ? position : known);
      const [oldest] = pending;
      if (pending.size <= MOST_PENDING || !oldest) return;
      pending.delete(oldest[0]);
      const service = serviceOf(oldest[0]);
      if (oldest[1] > (forgotten.get(service) ?? 0n)) forgotten.set(service, oldest[1]);
    },

    latest(streams) {
      let latest = 0n;
      for (const stream of streams) {
        const at = pending.get(stream) ?? forgotten.get(serviceOf(stream)) ?? 0n;
        if (at > latest) latest = at;
      }
      return latest;
    },

    untilWanted(service, ms) {
      if ((waiting.get(service)?.size ?? 0) > 0) return Promise.resolve();
      return new Promise((resolve) => {
        const done = () => {
          clearTimeout(timer);
          wanted.delete(service);
          resolve();
        };
        const timer = setTimeout(done, ms);
        wanted.set(service, done);
      });
    },

    async wait(service, asked, mostMs = PATIENCE_MS) {
      const beginning = beginnings.get(service) ?? 0n;
      const position = asked > beginning ? asked : beginning;
      if (has(service, position)) return true;
      const group = waiting.get(service) ?? new Set();
      waiting.set(service, group);
      poll(service, group);
      await new Promise<void>((resolve) => {
        const waiter = { position, wake: () => done() };
        const patience = setTimeout(() => done(), mostMs);
        const done = () => {
          clearTimeout(patience);
          group.delete(waiter);
          resolve();
        };
        group.add(waiter);
        wanted.get(service)?.();
      });
      return has(service, position);
    },
  };
}

const serviceOf = (stream: string): string => stream.slice(0, stream.indexOf('.'));
