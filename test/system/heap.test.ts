/** Heap size and frequency of full collections of a process that allocates much short-lived data. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { killOnExit } from '@annals/engines/testing/children.js';
import { expect } from 'chai';

const MB = 1024 * 1024;
const HEAP = new URL('../../adapters/platform/process/gc-tuning.js', import.meta.url);

/** 300 MB of medium-lived data beside 50 MB of permanent data. */
const BUSY = `
  import { constants, PerformanceObserver } from 'node:perf_hooks';
  import { setImmediate } from 'node:timers/promises';
  import { getHeapStatistics } from 'node:v8';
  import { limitHeapGrowth } from '${HEAP}';
  const some = (count) => Array.from({ length: count }, (_, n) => ({ n, text: 'of ' + n }));
  const kept = some(500_000);
  limitHeapGrowth();
  await setImmediate();
  const { used_heap_size: before } = getHeapStatistics();
  let [most, collections] = [0, 0];
  new PerformanceObserver((list) => {
    for (const { detail } of list.getEntries())
      if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) collections++;
  }).observe({ entryTypes: ['gc'] });
  const inUse = [];
  for (let turn = 0; turn < 3000; turn++) {
    inUse[turn % 64] = some(1000);
    most = Math.max(most, getHeapStatistics().used_heap_size);
    await setImmediate();
  }
  console.log(JSON.stringify({ grown: most - before, collections, kept: kept.length }));
`;

describe('heap of a busy process', () => {
  it('stays near its live data without a full collection for every few MB', async () => {
    const flags = ['--max-semi-space-size=1', '--input-type=module', '--eval', BUSY];
    const child = killOnExit(spawn(process.execPath, flags, { stdio: ['ignore', 'pipe', 'inherit'] }));
    const { grown, collections } = JSON.parse(await text(child.stdout!));
    expect(grown).to.be.below(80 * MB);
    expect(collections).to.be.within(1, 10);
  });
});
