/** Ports of log subscribers in memory, for tests that must not wait for a store. The real ones have their own tests. */
import { randomUUID } from 'node:crypto';
import type {
  Batch,
  Checkpoints,
  Leases,
  Position,
  ProjectionProgress,
  RecordedEvent,
  Subscribe,
} from '../../application/ports/index.js';
import type { Snapshot, Snapshots } from '../../application/subscription/fold-snapshots.js';
import type { Builds, ReadModel } from '../../projections/kernel/projection.js';

/** An event at a position, in its own stream unless a stream and revision are given. */
export const eventAt = (
  position: bigint,
  type = 'ToyPut',
  data: RecordedEvent['data'] = {},
  revision = 0,
): RecordedEvent => ({
  id: randomUUID(),
  stream: 'toys.box-1',
  revision,
  position,
  type,
  version: 1,
  recordedAt: 1_800_000_000_000 + Number(position),
  data,
  metadata: {},
});

/** Checkpoints that refuse a former holder of a lease, as those in MongoDB do. */
export function checkpointsInMemory() {
  const stored = new Map<string, { position: Position; lease: string; fence: bigint }>();
  const state: { failure?: Error | undefined; saves: number } = { saves: 0 };
  const checkpoints: Checkpoints = {
    read: async (name) => stored.get(name)?.position,
    async advance(positions, { name: lease, fence }) {
      if (state.failure) throw state.failure;
      state.saves++;
      for (const [name, position] of Object.entries(positions)) {
        const before = stored.get(name);
        const isLater = before && (before.lease === lease ? before.fence > fence : before.position > position);
        if (isLater) return false;
        stored.set(name, { position, lease, fence });
      }
      return true;
    },
    forget: async (name) => void stored.delete(name),
    all: async () => new Map(Array.from(stored, ([name, { position }]) => [name, position])),
  };
  return { checkpoints, stored, state };
}

/** Snapshots with the rules of those in MongoDB; `written` counts writes. */
export function snapshotsInMemory() {
  const stored = new Map<string, Snapshot & { readonly version: number }>();
  const state = { written: 0, extended: 0 };
  const snapshots: Snapshots = {
    async read(service, version) {
      const found = stored.get(service);
      return found?.version === version ? structuredClone(found) : undefined;
    },
    async write(service, version, position, parts) {
      if ((stored.get(service)?.position ?? position) > position) return false;
      const all: unknown[] = [];
      for await (const part of parts) all.push(part);
      state.written++;
      stored.set(service, { version, position, until: position, parts: JSON.parse(JSON.stringify(all)) });
      return true;
    },
    async extend(service, version, position, until) {
      const found = stored.get(service);
      if (found?.version !== version || found.position !== position) return false;
      state.extended++;
      stored.set(service, { ...found, until });
      return true;
    },
  };
  return { snapshots, stored, state };
}

/** Leases of one or several processes; `taken` names leases that another process holds. */
export function leasesInMemory() {
  const held = new Map<string, AbortController>();
  const taken = new Set<string>();
  const state = { fence: 0n, calls: 0, released: 0 };
  const leases: Leases = {
    async acquire(name) {
      state.calls++;
      if (held.has(name) || taken.has(name)) return undefined;
      const lost = new AbortController();
      held.set(name, lost);
      return {
        name,
        fence: ++state.fence,
        lost: lost.signal,
        assertHeld() {
          if (held.get(name) !== lost) throw new Error('the lease is lost');
        },
        async release() {
          state.released++;
          lost.abort();
          if (held.get(name) === lost) held.delete(name);
        },
      };
    },
    holder: async (name) => (taken.has(name) ? 'another' : held.has(name) ? 'one of these' : undefined),
  };
  const lose = (name: string) => {
    held.get(name)?.abort(new Error('the lease is lost'));
    held.delete(name);
  };
  return { leases, held, taken, lose, state };
}

/** Collections that hold the positions of written events. */
export function buildsInMemory() {
  const collections = new Map<string, Position[]>();
  const state: { failure?: Error | undefined; listed: string[]; dropped: string[] } = {
    listed: [],
    dropped: [],
  };
  /** Writes to these collections wait for the promise. */
  const held = new Map<string, Promise<void>>();
  const rowsOf = (name: string) => {
    const rows = collections.get(name) ?? [];
    collections.set(name, rows);
    return rows;
  };
  const builds: Builds = {
    async open(_: ReadModel, name, lease) {
      rowsOf(name);
      return async (events) => {
        if (state.failure) throw state.failure;
        lease.assertHeld();
        await held.get(name);
        rowsOf(name).push(...events.map(({ position }) => position));
      };
    },
    async *scan() {},
    async list(prefix) {
      state.listed.push(prefix);
      return [...collections.keys()].filter((name) => name.startsWith(prefix));
    },
    count: async (name) => collections.get(name)?.length ?? 0,
    async drop(name) {
      state.dropped.push(name);
      collections.delete(name);
    },
  };
  return { builds, held, collections, state };
}

/** A log that delivers the batches of a test to its current subscriber. */
export function feed() {
  const calls: Parameters<Subscribe>[0][] = [];
  const waiting: Batch[] = [];
  let wake = () => {};
  const follow: Subscribe = async function* (options) {
    calls.push(options);
    wake();
    for (;;) {
      const batch = waiting.shift();
      if (options.signal.aborted) return;
      if (batch) {
        yield batch;
        continue;
      }
      await new Promise<void>((resolve) => {
        wake = resolve;
        options.signal.addEventListener('abort', () => resolve(), { once: true });
      });
    }
  };
  return {
    follow,
    calls,
    give(events: readonly RecordedEvent[], more: Partial<Batch> = {}) {
      const position = events.at(-1)?.position;
      waiting.push({ events, caughtUp: false, ...(position === undefined ? {} : { position }), ...more });
      wake();
    },
    /** Whether the subscriber has taken all batches. */
    isTaken: () => waiting.length === 0,
  };
}

/** Read models that reflect the whole log, and a node that has appended nothing. */
export const upToDate = {
  projectionProgress: {
    wait: async () => true,
    latest: () => 0n,
    latestOf: () => 0n,
    position: () => 0n,
  } satisfies ProjectionProgress,
  latest: () => 0n,
};
