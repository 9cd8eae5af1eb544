/** A process that has asked a thread something, and then has nothing left to do, for tests. */
import { quiet } from '@annals/engines/testing/engines.js';
import { createThread } from '../../../../adapters/platform/process/worker.js';

const thread = createThread({
  module: new URL('./ticking.js', import.meta.url),
  data: undefined,
  answers: {},
  kinds: [],
  heapMb: 48,
  logger: quiet,
});
// What waits for a thread holds its process by other things.
const waiting = setInterval(() => {}, 1000);
if ((await thread.call('double', [2])) !== 4) process.exitCode = 1;
clearInterval(waiting);
