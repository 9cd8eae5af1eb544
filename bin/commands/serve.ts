/** `annals serve`: runs services; the rest of the program loads while the engines start. */
import { Argument } from 'commander';
import { createLogger, isPretty, startLogger } from '../../adapters/platform/observability/logger.js';
import { createRecentErrors } from '../../adapters/platform/observability/recent-errors.js';
import { limitHeapGrowth } from '../../adapters/platform/process/gc-tuning.js';
import { installShutdown, once, type Step, undoStart } from '../../adapters/platform/process/shutdown.js';
import { findServers } from '../node/locate-servers.js';
import { startTable } from '../node/start-table.js';
import { loadServices } from '../services/all.js';
import { type ServiceName, serviceNames, settingsServing } from '../settings.js';
import type { Call, CommandSpec } from './command.js';

export const serve: CommandSpec = {
  description:
    'Runs the named services, or all of them, each on its own port. Without addresses of servers it starts ' +
    'an embedded EventStoreDB and an embedded MongoDB on the data directory.',
  examples: [
    ['serve', 'all services, on embedded engines in ./data'],
    ['serve rooms --rooms-port 8004', 'one service'],
    ['serve --event-store-url esdb://es:2113?tls=false --mongo-url mongodb://db/', 'on configured servers'],
  ],
  arguments: [new Argument('[service...]', 'Services to run').choices(serviceNames)],
  serves: selectServices,
  reads: (args) => settingsServing(selectServices(args.filter((each) => !each.startsWith('-')))),
  async run({ config: { values }, args }: Call) {
    const { 'log.level': level, 'log.format': format } = values;
    const recentErrors = createRecentErrors();
    const logger = createLogger({ level, format, recentErrors });
    // Closers, the last opened first. A signal may arrive during the start.
    const closers: Step[] = [];
    const onOpen = (name: string, run: Step['run']) => closers.unshift(once({ name, run }));
    let isStopping = false;
    function* steps() {
      isStopping = true;
      yield* [...closers];
    }
    // From the beginning: an interrupted start closes what it has opened so far.
    const shutDown = installShutdown({ steps: { [Symbol.iterator]: steps }, logger });
    // The engines start while this process still loads the modules that use them.
    const locating = findServers(values, logger, { engineLogger: startLogger(logger, format) }).then((servers) => {
      onOpen('engines', servers.stop);
      void servers.awaitLoss?.().then((reason) => {
        logger.error({}, LOSS_MESSAGES[reason]);
        shutDown();
      });
      return servers;
    });
    try {
      const [servers, { runNode }, services] = await Promise.all([
        locating,
        import('../node/run-node.js'),
        loadServices(selectServices(args)),
      ]);
      const listeners = await runNode(services, values, servers, logger, onOpen, recentErrors);
      if (isPretty(format) && ['debug', 'info'].includes(level))
        process.stdout.write(startTable(listeners, servers.kind, values.dataDir, performance.now()));
      limitHeapGrowth();
    } catch (error) {
      // The shutdown itself makes pending work fail.
      if (isStopping) return new Promise<never>(() => {});
      await locating.catch(() => {});
      await undoStart(closers, logger);
      throw error;
    }
    return new Promise<never>(() => {});
  },
};

const LOSS_MESSAGES = {
  replaced: 'another process restarted the embedded engines with a new secret; start this process again',
  gone: 'the process that ran the embedded engines has ended and was not restarted; start this process again',
};

function selectServices(args: readonly string[]): readonly ServiceName[] {
  return args.length === 0 ? serviceNames : serviceNames.filter((name) => args.includes(name));
}
