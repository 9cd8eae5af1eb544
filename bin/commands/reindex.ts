/** `annals reindex`: rebuilds read models from the log next to the active ones, then switches to them. */
import { Argument, Option } from 'commander';
import { onEnd } from '../../adapters/platform/process/shutdown.js';
import { BuildInProgress, type Progress, type ReadModel } from '../../projections/kernel/index.js';
import type { Kernel } from '../node/kernel.js';
import { definitions } from '../services/definitions/all.js';
import type { Call, CommandSpec } from './command.js';
import { printError, table } from './output.js';
import { progressBar } from './progress-bar.js';
import { createStoreRetries } from './retry-store.js';
import { withKernel } from './stores.js';

const projections = definitions.flatMap((service) => service.projections);

export const reindex: CommandSpec = {
  description:
    'Rebuilds the named read models, or all of them, next to the active ones and switches to them once they are ' +
    'complete: queries never see a partial one. Ctrl-C stops; run the same command again to continue.',
  examples: [
    ['reindex', 'all read models'],
    ['reindex rooms.state', 'one read model'],
    ['reindex --check', 'compare the active read models with a rebuild, and change nothing'],
    ['reindex --list', 'names, versions and positions'],
  ],
  arguments: [new Argument('[projection...]', 'Read models').choices(projections.map(({ name }) => name))],
  options: [
    new Option('--check', 'Compare the active rows, up to their position, with a rebuild; exit code 1 if they differ'),
    new Option('--list', 'List the read models; their position is behind while only other services write').conflicts(
      'check',
    ),
  ],
  async run({ config: { values }, args, options }: Call) {
    const selected = args.length > 0 ? projections.filter(({ name }) => args.includes(name)) : projections;
    const interrupted = new AbortController();
    const interrupt = () => interrupted.abort();
    onEnd(interrupt, () => process.exit(1));
    return withKernel(values, async ({ kernel }) => {
      if (options.list) return list(kernel, selected);
      let code = 0;
      for (const projection of selected)
        code = Math.max(code, await run(kernel, projection, Boolean(options.check), interrupted.signal));
      return code;
    }).catch((error) => {
      if (!interrupted.signal.aborted) throw error;
      printError('stopped; run the same command again to continue');
      return 1;
    });
  },
};

async function run(kernel: Kernel, projection: ReadModel, check: boolean, signal: AbortSignal): Promise<number> {
  const { name } = projection;
  const started = performance.now();
  const retries = createStoreRetries(signal, ({ message }) => {
    printError(`${name}: ${message}, trying again`);
  });
  const bar = progressBar(name);
  let events = 0;
  const onProgress = (progress: Progress, until: bigint) => {
    retries.reset();
    events = progress.events;
    bar.update(progress, until);
  };
  const print = (text: string) => {
    bar.stop();
    process.stdout.write(`${name}: ${text}\n`);
  };
  const summary = () => `${events} events in ${((performance.now() - started) / 1000).toFixed(1)} s`;
  try {
    const options = { signal, onProgress };
    if (!check) {
      const collection = await retries.run(() => kernel.lifecycle.rebuild(projection, options));
      print(`rebuilt, ${summary()}, now active: ${collection}`);
      return 0;
    }
    const differences = await retries.run(() => kernel.lifecycle.check(projection, options));
    for (const { id, problem } of differences) print(`row ${id} is ${problem}`);
    print(`${differences.length === 0 ? 'equals its rebuild' : `${differences.length} rows differ`}, ${summary()}`);
    return differences.length === 0 ? 0 : 1;
  } catch (error) {
    if (!(error instanceof BuildInProgress)) throw error;
    printError(error.message);
    return 1;
  } finally {
    bar.stop();
  }
}

async function list(kernel: Kernel, selected: readonly ReadModel[]): Promise<number> {
  const head = await kernel.head();
  const rows = selected.map(async (projection) => {
    const { state } = await kernel.lifecycle.current(projection);
    const position = state && (await kernel.checkpoints.read(state.collection));
    const version =
      state && state.version !== projection.version
        ? `${state.version} (now ${projection.version})`
        : projection.version;
    return [projection.name, String(version), state?.collection ?? '-', String(position ?? '-'), String(head)];
  });
  process.stdout.write(
    table([['PROJECTION', 'VERSION', 'COLLECTION', 'POSITION', 'HEAD'], ...(await Promise.all(rows))]),
  );
  return 0;
}
