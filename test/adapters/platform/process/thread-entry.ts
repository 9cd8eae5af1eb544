/** A worker thread controlled by its test. */
import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { createRpcPeer } from '../../../../adapters/platform/process/worker-rpc.js';

class Tired extends Error {
  override readonly name = 'Tired';
}

const other = createRpcPeer(
  parentPort!,
  {
    double: (_, number: number) => 2 * number,
    given: () => workerData,
    fail: (_, tired: boolean) => {
      throw tired ? new Tired('enough') : new TypeError('a bug');
    },
    /** Runs until aborted and reports that. */
    async untilStopped(signal) {
      if (!signal.aborted) await once(signal, 'abort');
      return 'stopped';
    },
    askBack: async (_, number: number) => 1 + (await other.call<number>('triple', [number])),
    die: () => process.exit(3),
    devour() {
      const held: unknown[] = [];
      for (;;) held.push(new Array(100_000).fill(held.length));
    },
  },
  [],
);
