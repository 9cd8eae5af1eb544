/** Keeps the heap of a long-running process near what lives in it. */
import { constants, type NodeGCPerformanceDetail, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * How much the old generation may grow over what lived at its last collection; V8 alone lets it grow fourfold. Each
 * collection goes through all that lives: with a quarter alone a small heap is gone through at every few hundred requests.
 */
const GROWTH = { bytes: 40 * 1024 * 1024, leastPercent: 25 };

type Collection = PerformanceEntry & { readonly detail?: NodeGCPerformanceDetail };

/**
 * To be called once, when everything is loaded. Collects what the start has left behind: V8 waits with its first
 * collection of old garbage until there are 256 MB of it, whatever the process really needs.
 */
export function keepHeapSmall(): void {
  new PerformanceObserver((list) => {
    const collections: readonly Collection[] = list.getEntries();
    if (collections.some(({ detail }) => detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR)) giveRoom();
  }).observe({ entryTypes: ['gc'] });
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  giveRoom();
  collect();
}

/** By what lives just now, for the next collection to go by. */
function giveRoom() {
  const percent = Math.round((100 * GROWTH.bytes) / getHeapStatistics().used_heap_size);
  setFlagsFromString(`--heap-growing-percent=${Math.max(GROWTH.leastPercent, percent)}`);
}
