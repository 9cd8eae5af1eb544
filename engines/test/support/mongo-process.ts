/**
 * Runs the embedded MongoDB in its own process for tests and benchmarks. Sends its URL to its parent and ends with it.
 */
import { startMongoEngine } from '../../mongo/engine.js';
import { SECRET } from './raw-client.js';

const [directory, port, housekeepingMs] = process.argv.slice(2);
const engine = await startMongoEngine({
  directory: directory!,
  port: Number(port),
  secret: SECRET,
  ...(housekeepingMs ? { housekeepingMs: Number(housekeepingMs) } : {}),
  onFatal(error) {
    console.error(error);
    process.exit(1);
  },
});
process.on('disconnect', () => process.exit(0));
process.on('message', async () => {
  await engine.stop();
  process.exit(0);
});
process.send?.({ url: engine.url, port: engine.port });
