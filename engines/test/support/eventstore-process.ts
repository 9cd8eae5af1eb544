/** Runs the embedded event store as a child process of a test: `fork(this, [directory, port])`. */
import { startEventStoreEngine } from '../../eventstore/engine.js';
import { SECRET } from './eventstore.js';

const [directory = '', port = '0'] = process.argv.slice(2);
const started = performance.now();
const engine = await startEventStoreEngine({
  directory,
  port: Number(port),
  secret: SECRET,
  onFatal: (error) => {
    throw error;
  },
});
process.send?.({ url: engine.url, port: engine.port, startedIn: performance.now() - started });
process.on('disconnect', () => process.exit(0));
process.on('SIGTERM', async () => {
  await engine.stop();
  process.exit(0);
});
