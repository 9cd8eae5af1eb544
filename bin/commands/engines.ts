/** `annals engines`: the two embedded engines alone, for other processes to use. */
import { resolve } from 'node:path';
import { startEngines } from '@annals/engines';
import { maskCredentials } from '../../adapters/platform/config/mask.js';
import { createLogger } from '../../adapters/platform/observability/logger.js';
import { shutdownOn } from '../../adapters/platform/process/shutdown.js';
import type { Call, CommandSpec } from './command.js';

export const engines: CommandSpec = {
  description:
    'Starts the embedded event store and the embedded MongoDB on the data directory and leaves them running. ' +
    'Every other command of the same user with the same data directory finds them, by the addresses and the secret ' +
    'of this start in its runtime.json, and uses them.',
  examples: [
    ['engines', 'on ./data'],
    ['engines --data-dir /var/lib/annals', 'on another directory'],
  ],
  reads: () => ['dataDir', 'log.level', 'log.format'],
  async run({ config: { values } }: Call) {
    const logger = createLogger({ level: values['log.level'], format: values['log.format'] });
    const dataDir = resolve(values.dataDir);
    const starting = startEngines({ dataDir, logger });
    // From the beginning: engines that are told to go while they start are waited for, and stopped.
    shutdownOn({ steps: [{ name: 'engines', run: async () => (await starting).stop() }], logger });
    const running = await starting;
    const [eventStoreUrl, mongoUrl] = [running.eventStoreUrl, running.mongoUrl].map(maskCredentials);
    logger.info({ eventStoreUrl }, `event store on ${eventStoreUrl}`);
    logger.info({ mongoUrl }, `MongoDB on ${mongoUrl}`);
    logger.info({ dataDir }, 'ready');
    return new Promise<never>(() => {});
  },
};
