/** The engine as a process of its own, for tests and benchmarks: tells its parent its URL, ends with it. */
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
