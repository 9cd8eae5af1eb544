/** `annals reindex`: rebuilds read models from the log next to the active ones, then switches to them. */
import { MultiBar } from 'cli-progress';
import { Argument, Option } from 'commander';
import { onEnd } from '../../adapters/platform/process/signals.js';
import { serviceOf } from '../../domain/shared/index.js';
import { BuildInProgress, type Progress, type ReadModel, type Share } from '../../projections/kernel/index.js';
import { type Kernel, openKernel } from '../node/kernel.js';
import { services } from '../services/all.js';
import type { Call, CommandSpec } from './command.js';
import { createCommandLogger } from './logger.js';
import { createStoreRetries } from './retry-store.js';
import { findStores } from './stores.js';
import { table } from './table.js';

const projections = services.flatMap((service) => service.projections);

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
    new Option('--list', 'List the read models').conflicts('check'),
  ],
  async run({ config: { values }, args, options }: Call) {
    const logger = createCommandLogger(values);
    const selected = args.length > 0 ? projections.filter(({ name }) => args.includes(name)) : projections;
    const servers = await findStores(values, logger);
    const interrupted = new AbortController();
    const interrupt = () => interrupted.abort();
    onEnd(interrupt, () => process.exit(1));
    const kernel = await openKernel(servers, values, services, logger);
    try {
      if (options.list) return await list(kernel, selected);
      let code = 0;
      // Read models of one service run together, so that the log is read once for all of them.
      for (const name of new Set(selected.map(({ name }) => serviceOf(name)))) {
        const group = selected.filter((projection) => serviceOf(projection.name) === name);
        code = Math.max(code, await runAll(kernel, group, Boolean(options.check), interrupted.signal));
      }
      return code;
    } catch (error) {
      if (!interrupted.signal.aborted) throw error;
      process.stderr.write('annals: stopped; run the same command again to continue\n');
      return 1;
    } finally {
      await kernel.close();
      await servers.stop();
    }
  },
};

/** Settles when all have; rejects with the first failure in their order. */
async function runAll(
  kernel: Kernel,
  group: readonly ReadModel[],
  check: boolean,
  signal: AbortSignal,
): Promise<number> {
  const shares = kernel.lifecycle.shares(group);
  const bars = progressBars();
  const runs = group.map((projection) => {
    const share = shares.get(projection)!;
    const { print } = bars;
    return run(kernel, projection, { check, signal, share, print, bar: bars.add(projection.name) });
  });
  const results = await Promise.allSettled(runs);
  bars.stop();
  const codes = results.map((each) => {
    if (each.status === 'rejected') throw each.reason;
    return each.value;
  });
  return Math.max(...codes);
}

interface RunOptions {
  readonly check: boolean;
  readonly signal: AbortSignal;
  readonly share: Share;
  readonly print: (text: string) => void;
  readonly bar: ReturnType<ReturnType<typeof progressBars>['add']>;
}

async function run(
  kernel: Kernel,
  projection: ReadModel,
  { check, signal, share, print, bar }: RunOptions,
): Promise<number> {
  const { name } = projection;
  const started = performance.now();
  const retries = createStoreRetries(signal, ({ message }) => {
    process.stderr.write(`annals: ${name}: ${message}, trying again\n`);
  });
  let events = 0;
  const onProgress = (progress: Progress, until: bigint) => {
    retries.reset();
    events = progress.events;
    bar.update(progress, until);
  };
  const summary = () => `${events} events in ${((performance.now() - started) / 1000).toFixed(1)} s`;
  try {
    if (!check) {
      const onWaiting = () =>
        void process.stderr.write(`annals: ${name}: waiting until the previous build is dropped (20 s)\n`);
      const rebuild = (share?: Share) =>
        kernel.lifecycle.rebuild(projection, { signal, onProgress, onWaiting, ...(share && { share }) });
      const collection = await retries.run(
        () => rebuild(share),
        () => rebuild(),
      );
      print(`${name}: rebuilt, ${summary()}, now active: ${collection}\n`);
      return 0;
    }
    const compare = (share?: Share) =>
      kernel.lifecycle.check(projection, { signal, onProgress, ...(share && { share }) });
    const differences = await retries.run(
      () => compare(share),
      () => compare(),
    );
    const rows = differences.map(({ id, problem }) => `${name}: row ${id} is ${problem}\n`).join('');
    const verdict = differences.length === 0 ? 'equals its rebuild' : `${differences.length} rows differ`;
    print(`${rows}${name}: ${verdict}, ${summary()}\n`);
    return differences.length === 0 ? 0 : 1;
  } catch (error) {
    if (!(error instanceof BuildInProgress)) throw error;
    process.stderr.write(`annals: ${error.message}\n`);
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

/** Progress bars on a terminal; elsewhere only the final lines are printed. */
function progressBars() {
  const bars = new MultiBar({
    format: '{name} {bar} {percentage}% | {events} events | {rate}/s | {eta_formatted} left',
    noTTYOutput: false,
    hideCursor: true,
    stopOnComplete: false,
  });
  const { isTTY } = process.stderr;
  const started = performance.now();
  const deferred: string[] = [];
  return {
    stop() {
      bars.stop();
      process.stdout.write(deferred.join(''));
    },
    /** Printed after the bars on a terminal, where they would overwrite it. */
    print: (text: string) => void (isTTY ? deferred.push(text) : process.stdout.write(text)),
    add(name: string) {
      let bar: ReturnType<typeof bars.create> | undefined;
      return {
        update({ events, position }: Progress, until: bigint) {
          if (!isTTY) return;
          const rate = Math.round(events / ((performance.now() - started) / 1000));
          bar ??= bars.create(Number(until), 0, { name, events, rate });
          bar.setTotal(Number(until));
          bar.update(Number(position < until ? position : until), { name, events, rate });
        },
        stop() {
          bar?.stop();
        },
      };
    },
  };
}
