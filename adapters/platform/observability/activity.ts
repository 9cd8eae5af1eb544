/** Requests and events of the last hour in slices of time, for charts. */
import type { Clock } from '../../../application/ports/index.js';

/** Milliseconds of a slice. */
export const SLICE_MS = 10_000;
const SLICES = 360;

/** Upper bounds of latency buckets in ms; the last bucket is unbounded. */
const BOUNDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];

interface Slice {
  /** Number of the slice since the Unix epoch. */
  index: number;
  requests: number;
  failures: number;
  events: number;
  readonly latencies: number[];
}

export interface ActivitySlice {
  /** Start of the slice, Unix ms. */
  readonly at: number;
  readonly requests: number;
  /** Requests answered with a status of 500 or above. */
  readonly failures: number;
  /** Events appended by this process. */
  readonly events: number;
  /** Upper bound of the latency of 95 % of the requests, ms; undefined without requests. */
  readonly p95: number | undefined;
}

export function createActivity(clock: Clock = Date) {
  const slices = new Map<number, Slice>();
  const indexNow = () => Math.floor(clock.now() / SLICE_MS);

  function current(): Slice {
    const index = indexNow();
    // The place of a slice an hour ago.
    const place = index % SLICES;
    const slice = slices.get(place);
    if (slice?.index === index) return slice;
    const next = { index, requests: 0, failures: 0, events: 0, latencies: new Array(BOUNDS.length + 1).fill(0) };
    slices.set(place, next);
    return next;
  }

  return {
    answered(status: number, ms: number): void {
      const slice = current();
      slice.requests++;
      if (status >= 500) slice.failures++;
      const bucket = BOUNDS.findIndex((bound) => ms <= bound);
      slice.latencies[bucket === -1 ? BOUNDS.length : bucket]!++;
    },
    appended(events: number): void {
      current().events += events;
    },
    /** Returns the complete slices of the last hour in order, without those before the first activity. */
    list(): readonly ActivitySlice[] {
      const end = indexNow();
      const known = [...slices.values()].filter(({ index }) => index > end - SLICES);
      const first = Math.min(end, ...known.map(({ index }) => index));
      const byIndex = new Map(known.map((slice) => [slice.index, slice]));
      return Array.from({ length: end - first }, (_, offset) => {
        const { requests = 0, failures = 0, events = 0, latencies = [] } = byIndex.get(first + offset) ?? {};
        return { at: (first + offset) * SLICE_MS, requests, failures, events, p95: quantile(latencies, 0.95) };
      });
    },
  };
}

/** Returns the upper bound of the bucket in which a quantile lies; twice the last bound if that is unbounded. */
function quantile(counts: readonly number[], share: number): number | undefined {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return undefined;
  let seen = 0;
  const bucket = counts.findIndex((count) => {
    seen += count;
    return seen >= total * share;
  });
  return BOUNDS[bucket] ?? 2 * BOUNDS.at(-1)!;
}
