/** A node that does alerting, as a process of its own that can be killed; it always counts 25 errors. */
import { startAlertNode } from './alert-node.js';

const [eventStoreUrl = '', mongoUrl = '', name = ''] = process.argv.slice(2);
const node = await startAlertNode({
  servers: { eventStoreUrl, mongoUrl, stop: async () => {} },
  node: name,
  counts: { errorsBetween: async () => 25, lastRecordAt: async () => Date.now() },
});
process.stdout.write(`${node.url}\n`);
