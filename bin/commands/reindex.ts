/** `annals reindex`: rebuilds read models from the log, beside the served ones, and switches to them. */
import { SingleBar } from 'cli-progress';
import { Argument, Option } from 'commander';
import { createLogger } from '../../adapters/system/logger.js';
import { onEnd } from '../../adapters/system/signals.js';
import type { Progress } from '../../projections/catch-up.js';
import { BuildInProgress } from '../../projections/lifecycle.js';
import type { ReadModel } from '../../projections/projection.js';
import { type Kernel, openKernel } from '../node/kernel.js';
import { services } from '../services/all.js';
import type { Call, CommandSpec } from './command.js';
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
    const logger = createLogger({ level: 'warn', format: values['log.format'] });
    const chosen = args.length > 0 ? projections.filter(({ name }) => args.includes(name)) : projections;
    const servers = await findStores(values, logger);
    const interrupted = new AbortController();
    const interrupt = () => interrupted.abort();
    onEnd(interrupt, () => process.exit(1));
    const kernel = await openKernel(servers, values, services, logger);
    try {
      if (options.list) return await list(kernel, chosen);
      let code = 0;
      for (const projection of chosen) {
        code = Math.max(code, await run(kernel, projection, Boolean(options.check), interrupted.signal));
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

async function run(
  kernel: Kernel,
  projection: ReadModel,
  check: boolean,
  signal: AbortSignal,
): Promise<number> {
  const { name } = projection;
  const bar = progressBar(name);
  const started = performance.now();
  let events = 0;
  const onProgress = (progress: Progress, until: bigint) => {
    events = progress.events;
    bar.update(progress, until);
  };
  const said = () => `${events} events in ${((performance.now() - started) / 1000).toFixed(1)} s`;
  try {
    if (!check) {
      const collection = await kernel.lifecycle.rebuild(projection, { signal, onProgress });
      bar.stop();
      process.stdout.write(`${name}: rebuilt, ${said()}, now served from ${collection}\n`);
      return 0;
    }
    const differences = await kernel.lifecycle.check(projection, { signal, onProgress });
    bar.stop();
    for (const { id, problem } of differences) process.stdout.write(`${name}: row ${id} is ${problem}\n`);
    const verdict = differences.length === 0 ? 'equals its rebuild' : `${differences.length} rows differ`;
    process.stdout.write(`${name}: ${verdict}, ${said()}\n`);
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
    return [
      projection.name,
      String(version),
      state?.collection ?? '-',
      String(position ?? '-'),
      String(head),
    ];
  });
  process.stdout.write(
    table([['PROJECTION', 'VERSION', 'COLLECTION', 'POSITION', 'HEAD'], ...(await Promise.all(rows))]),
  );
  return 0;
}

/** On a terminal only; elsewhere the last line says it all. */
function progressBar(name: string) {
  const bar = new SingleBar({
    format: `${name} {bar} {percentage}% | {events} events | {rate}/s | {eta_formatted} left`,
    noTTYOutput: false,
    hideCursor: true,
    stopOnComplete: false,
  });
  const started = performance.now();
  let running = false;
  return {
    update({ events, position }: Progress, until: bigint) {
      if (!process.stderr.isTTY) return;
      const rate = Math.round(events / ((performance.now() - started) / 1000));
      if (!running) bar.start(Number(until), 0, { events: 0, rate: 0 });
      running = true;
      bar.setTotal(Number(until));
      bar.update(Number(position < until ? position : until), { events, rate });
    },
    stop() {
      if (running) bar.stop();
      running = false;
    },
  };
}
