/** What follows the log has around it, in memory, for rules that must not wait for a store: the real ones have their own tests. */
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

/** An event at a position, of a stream of its own unless a revision in one is given. */
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
  const kept = new Map<string, { position: Position; lease: string; fence: bigint }>();
  const state: { failure?: Error | undefined; saves: number } = { saves: 0 };
  const checkpoints: Checkpoints = {
    read: async (name) => kept.get(name)?.position,
    async advance(positions, { name: lease, fence }) {
      if (state.failure) throw state.failure;
      state.saves++;
      for (const [name, position] of Object.entries(positions)) {
        const before = kept.get(name);
        const isLater = before && (before.lease === lease ? before.fence > fence : before.position > position);
        if (isLater) return false;
        kept.set(name, { position, lease, fence });
      }
      return true;
    },
    forget: async (name) => void kept.delete(name),
    all: async () => new Map(Array.from(kept, ([name, { position }]) => [name, position])),
  };
  return { checkpoints, kept, state };
}

/** Snapshots as those in MongoDB do with them; `written` counts. */
export function snapshotsInMemory() {
  const kept = new Map<string, Snapshot & { readonly version: number }>();
  const state = { written: 0, extended: 0 };
  const snapshots: Snapshots = {
    async read(service, version) {
      const found = kept.get(service);
      return found?.version === version ? structuredClone(found) : undefined;
    },
    async write(service, version, position, parts) {
      if ((kept.get(service)?.position ?? position) > position) return false;
      const all: unknown[] = [];
      for await (const part of parts) all.push(part);
      state.written++;
      kept.set(service, { version, position, until: position, parts: JSON.parse(JSON.stringify(all)) });
      return true;
    },
    async extend(service, version, position, until) {
      const found = kept.get(service);
      if (found?.version !== version || found.position !== position) return false;
      state.extended++;
      kept.set(service, { ...found, until });
      return true;
    },
  };
  return { snapshots, kept, state };
}

/** Leases of one process, or of several that share them; `taken` names those that yet another holds. */
export function leasesInMemory() {
  const held = new Map<string, AbortController>();
  const taken = new Set<string>();
  const state = { fence: 0n, asked: 0, released: 0 };
  const leases: Leases = {
    async acquire(name) {
      state.asked++;
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

/** Collections that hold the positions of what was written to them. */
export function buildsInMemory() {
  const collections = new Map<string, Position[]>();
  const state: { failure?: Error | undefined; listed: string[]; dropped: string[] } = {
    listed: [],
    dropped: [],
  };
  /** What is written to one of these waits for it. */
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

/** A log that gives what a test hands it, to whoever follows it at that time. */
export function feed() {
  const asked: Parameters<Subscribe>[0][] = [];
  const waiting: Batch[] = [];
  let wake = () => {};
  const follow: Subscribe = async function* (options) {
    asked.push(options);
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
    asked,
    give(events: readonly RecordedEvent[], more: Partial<Batch> = {}) {
      const position = events.at(-1)?.position;
      waiting.push({ events, caughtUp: false, ...(position === undefined ? {} : { position }), ...more });
      wake();
    },
    /** Whether all that was given has been taken. */
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
