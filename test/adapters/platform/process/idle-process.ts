/** A process that has called a worker thread and has nothing left to do, for tests. */
import { silentLogger } from '@annals/engines/testing/engines.js';
import { createWorkerThread } from '../../../../adapters/platform/process/worker.js';

const thread = createWorkerThread({
  module: new URL('./thread-entry.js', import.meta.url),
  data: undefined,
  handlers: {},
  errorClasses: [],
  heapMb: 48,
  logger: silentLogger,
});
// Pending calls do not keep the process alive.
const waiting = setInterval(() => {}, 1000);
if ((await thread.call('double', [2])) !== 4) process.exitCode = 1;
clearInterval(waiting);
