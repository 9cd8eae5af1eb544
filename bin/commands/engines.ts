/** `annals engines`: runs only the embedded engines, for other processes. */
import { resolve } from 'node:path';
import { startEngines } from '@annals/engines';
import { maskCredentials } from '../../adapters/platform/config/mask.js';
import { createLogger } from '../../adapters/platform/observability/logger.js';
import { installShutdown } from '../../adapters/platform/process/shutdown.js';
import type { Call, CommandSpec } from './command.js';

export const engines: CommandSpec = {
  description:
    'Runs the embedded EventStoreDB and the embedded MongoDB on the data directory. Other commands of the same user ' +
    'with the same data directory find and use them, by the addresses and the secret in its runtime.json.',
  examples: [
    ['engines', 'on ./data'],
    ['engines --data-dir /var/lib/annals', 'on another directory'],
  ],
  reads: () => ['dataDir', 'log.level', 'log.format'],
  async run({ config: { values } }: Call) {
    const logger = createLogger({ level: values['log.level'], format: values['log.format'] });
    const dataDir = resolve(values.dataDir);
    const starting = startEngines({ dataDir, logger });
    // From the beginning: a signal during the start waits for the engines and stops them.
    installShutdown({ steps: [{ name: 'engines', run: async () => (await starting).stop() }], logger });
    const running = await starting;
    const [eventStoreUrl, mongoUrl] = [running.eventStoreUrl, running.mongoUrl].map(maskCredentials);
    logger.info({ eventStoreUrl }, `event store on ${eventStoreUrl}`);
    logger.info({ mongoUrl }, `MongoDB on ${mongoUrl}`);
    logger.info({ dataDir }, 'ready');
    return new Promise<never>(() => {});
  },
};
