/** `annals serve`: the command; what it runs is in `run-node.ts`, and loads while the engines start. */
import { Argument } from 'commander';
import { createLogger } from '../../adapters/platform/observability/logger.js';
import { keepHeapSmall } from '../../adapters/platform/process/gc-tuning.js';
import { once, type Step, shutdownOn, undo } from '../../adapters/platform/process/shutdown.js';
import { findServers } from '../node/locate-servers.js';
import { type ServiceName, serviceNames, settingsServing } from '../settings.js';
import type { Call, CommandSpec } from './command.js';

export const serve: CommandSpec = {
  description:
    'Runs the named services, or all of them, each on a port of its own. Without addresses of servers it starts ' +
    'an embedded event store and an embedded MongoDB on the data directory.',
  examples: [
    ['serve', 'everything, on embedded engines in ./data'],
    ['serve rooms --rooms-port 8004', 'one service'],
    ['serve --event-store-url esdb://es:2113?tls=false --mongo-url mongodb://db/', 'on real servers'],
  ],
  arguments: [new Argument('[service...]', 'Services to run').choices(serviceNames)],
  serves: chosen,
  reads: (args) => settingsServing(chosen(args.filter((each) => !each.startsWith('-')))),
  async run({ config: { values }, args }: Call) {
    const logger = createLogger({ level: values['log.level'], format: values['log.format'] });
    // What to undo at the end, or when something on the way fails: the last first. A signal may come while it is.
    const toUndo: Step[] = [];
    const opened = (name: string, run: Step['run']) => toUndo.unshift(once({ name, run }));
    let asked = false;
    function* steps() {
      asked = true;
      yield* [...toUndo];
    }
    // From the beginning: a start that is interrupted is undone as far as it has come.
    const end = shutdownOn({ steps: { [Symbol.iterator]: steps }, logger });
    // The engines start while this process still loads what will use them.
    const finding = findServers(values, logger).then((servers) => {
      opened('engines', servers.stop);
      void servers.lost?.().then((why) => {
        logger.error({}, LOST[why]);
        end();
      });
      return servers;
    });
    try {
      const [servers, { begin }, { services }] = await Promise.all([
        finding,
        import('../node/run-node.js'),
        import('../services/all.js'),
      ]);
      const names: readonly string[] = chosen(args);
      const run = services.filter(({ name }) => names.includes(name));
      await begin(run, values, servers, logger, opened);
      keepHeapSmall();
    } catch (error) {
      // What was under way fails because it is being stopped.
      if (asked) return new Promise<never>(() => {});
      await finding.catch(() => {});
      await undo(toUndo, logger);
      throw error;
    }
    return new Promise<never>(() => {});
  },
};

const LOST = {
  replaced: 'another process has started the engines anew, with a secret that this one does not know: start it again',
  gone: 'the process whose engines this one used has ended, and nobody starts them again: start it again',
};

function chosen(args: readonly string[]): readonly ServiceName[] {
  return args.length === 0 ? serviceNames : serviceNames.filter((name) => args.includes(name));
}
