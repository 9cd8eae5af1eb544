/** Keeps the heap of a long-running process close to its live size. */
import { constants, type NodeGCPerformanceDetail, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Allowed growth of the old generation since its last collection; V8's default is fourfold. With a quarter alone, a small
 * heap would be collected every few hundred requests.
 */
const GROWTH = { bytes: 40 * 1024 * 1024, leastPercent: 25 };

type Collection = PerformanceEntry & { readonly detail?: NodeGCPerformanceDetail };

/** Collects start-up garbage; call it after the start. V8 would wait with its first full collection until 256 MB. */
export function limitHeapGrowth(): void {
  new PerformanceObserver((list) => {
    const collections: readonly Collection[] = list.getEntries();
    if (collections.some(({ detail }) => detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR)) updateGrowthLimit();
  }).observe({ entryTypes: ['gc'] });
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  updateGrowthLimit();
  collect();
}

/** Sets the growth limit from the current live size. */
function updateGrowthLimit() {
  const percent = Math.round((100 * GROWTH.bytes) / getHeapStatistics().used_heap_size);
  setFlagsFromString(`--heap-growing-percent=${Math.max(GROWTH.leastPercent, percent)}`);
}
