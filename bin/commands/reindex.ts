/** `annals reindex`: rebuilds read models from the log, beside the served ones, and switches to them. */
import { MultiBar } from 'cli-progress';
import { Argument, Option } from 'commander';
import { onEnd } from '../../adapters/platform/process/signals.js';
import { serviceOf } from '../../domain/shared/index.js';
import { BuildInProgress, type Progress, type ReadModel, type Share } from '../../projections/kernel/index.js';
import { type Kernel, openKernel } from '../node/kernel.js';
import { services } from '../services/all.js';
import type { Call, CommandSpec } from './command.js';
import { createCommandLogger } from './logger.js';
import { createPatience } from './retry-store.js';
import { findStores } from './stores.js';
import { table } from './table.js';

const projections = services.flatMap((service) => service.projections);

export const reindex: CommandSpec = {
  description:
    'Builds the named read models, or all of them, anew beside those that are served, and switches to them once ' +
    'they are complete: queries never see a partial one. Ctrl-C stops; the same command goes on where it stopped.',
  examples: [
    ['reindex', 'all of them'],
    ['reindex rooms.state', 'one of them'],
    ['reindex --check', 'compare what is served with what the log says, and change nothing'],
    ['reindex --list', 'the names, versions and places'],
  ],
  arguments: [new Argument('[projection...]', 'Read models').choices(projections.map(({ name }) => name))],
  options: [
    new Option(
      '--check',
      'Compare the served rows, as far as they are kept up, with a rebuild; exit code 1 if they differ',
    ),
    new Option('--list', 'List the read models').conflicts('check'),
  ],
  async run({ config: { values }, args, options }: Call) {
    const logger = createCommandLogger(values);
    const chosen = args.length > 0 ? projections.filter(({ name }) => args.includes(name)) : projections;
    const servers = await findStores(values, logger);
    const interrupted = new AbortController();
    const interrupt = () => interrupted.abort();
    onEnd(interrupt, () => process.exit(1));
    const kernel = await openKernel(servers, values, services, logger);
    try {
      if (options.list) return await list(kernel, chosen);
      let code = 0;
      // Those of a service at once: the log is read once for all of them.
      for (const name of new Set(chosen.map(({ name }) => serviceOf(name)))) {
        const some = chosen.filter((projection) => serviceOf(projection.name) === name);
        code = Math.max(code, await runAll(kernel, some, Boolean(options.check), interrupted.signal));
      }
      return code;
    } catch (error) {
      if (!interrupted.signal.aborted) throw error;
      process.stderr.write('stopped; the same command goes on from here\n');
      return 1;
    } finally {
      await kernel.close();
      await servers.stop();
    }
  },
};

/** Rejects, when all have come to their end, with what the first of those that failed did. */
async function runAll(
  kernel: Kernel,
  some: readonly ReadModel[],
  check: boolean,
  signal: AbortSignal,
): Promise<number> {
  const shares = kernel.lifecycle.shares(some);
  const bars = progressBars();
  const running = some.map((projection) => {
    const share = shares.get(projection)!;
    const { say } = bars;
    return run(kernel, projection, { check, signal, share, say, bar: bars.add(projection.name) });
  });
  const ended = await Promise.allSettled(running);
  bars.stop();
  const codes = ended.map((each) => {
    if (each.status === 'rejected') throw each.reason;
    return each.value;
  });
  return Math.max(...codes);
}

interface RunOptions {
  readonly check: boolean;
  readonly signal: AbortSignal;
  readonly share: Share;
  readonly say: (text: string) => void;
  readonly bar: ReturnType<ReturnType<typeof progressBars>['add']>;
}

async function run(
  kernel: Kernel,
  projection: ReadModel,
  { check, signal, share, say, bar }: RunOptions,
): Promise<number> {
  const { name } = projection;
  const started = performance.now();
  const patience = createPatience(signal, ({ message }) => {
    process.stderr.write(`annals: ${name}: ${message}; trying again\n`);
  });
  let events = 0;
  const onProgress = (progress: Progress, until: bigint) => {
    patience.renew();
    events = progress.events;
    bar.update(progress, until);
  };
  const said = () => `${events} events in ${((performance.now() - started) / 1000).toFixed(1)} s`;
  try {
    if (!check) {
      const onWaiting = () =>
        void process.stderr.write(`annals: ${name}: waits until what was served before is dropped (20 s)\n`);
      const rebuild = (share?: Share) =>
        kernel.lifecycle.rebuild(projection, { signal, onProgress, onWaiting, ...(share && { share }) });
      const collection = await patience.with(
        () => rebuild(share),
        () => rebuild(),
      );
      say(`${name}: rebuilt, ${said()}, now served from ${collection}\n`);
      return 0;
    }
    const compare = (share?: Share) =>
      kernel.lifecycle.check(projection, { signal, onProgress, ...(share && { share }) });
    const differences = await patience.with(
      () => compare(share),
      () => compare(),
    );
    const rows = differences.map(({ id, problem }) => `${name}: row ${id} is ${problem}\n`).join('');
    const verdict = differences.length === 0 ? 'equals its rebuild' : `${differences.length} rows differ`;
    say(`${rows}${name}: ${verdict}, ${said()}\n`);
    return differences.length === 0 ? 0 : 1;
  } catch (error) {
    if (!(error instanceof BuildInProgress)) throw error;
    process.stderr.write(`annals: ${error.message}\n`);
    return 1;
  } finally {
    bar.stop();
  }
}

async function list(kernel: Kernel, chosen: readonly ReadModel[]): Promise<number> {
  const head = await kernel.head();
  const rows = chosen.map(async (projection) => {
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

/** On a terminal only; elsewhere the last line says it all. */
function progressBars() {
  const bars = new MultiBar({
    format: '{name} {bar} {percentage}% | {events} events | {rate}/s | {eta_formatted} left',
    noTTYOutput: false,
    hideCursor: true,
    stopOnComplete: false,
  });
  const { isTTY } = process.stderr;
  const started = performance.now();
  const later: string[] = [];
  return {
    stop() {
      bars.stop();
      process.stdout.write(later.join(''));
    },
    /** Between bars it could not be read: it comes after them. */
    say: (text: string) => void (isTTY ? later.push(text) : process.stdout.write(text)),
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
