/** `annals replay`: the log as an auditor reads it, decoded, as a table or as NDJSON. */
import { InvalidArgumentError, Option } from 'commander';
import { startAfter } from '../../adapters/eventstore/subscription.js';
import { suggestion } from '../../adapters/platform/config/setting-names.js';
import { safe } from '../../adapters/platform/observability/safe-text.js';
import { onEnd } from '../../adapters/platform/process/signals.js';
import { NoSuchStream, type ReplayFilter, replay as replayLog } from '../../application/audit/index.js';
import type { RevealedEvent } from '../../application/ports/index.js';
import { servedEvents } from '../../domain/shared/index.js';
import { openKernel } from '../node/kernel.js';
import { services } from '../services/all.js';
import type { Call, CommandSpec } from './command.js';
import { Failed } from './failure.js';
import { INSTANT, instant } from './instants.js';
import { createCommandLogger } from './logger.js';
import { print } from './print.js';
import { tablePrinter } from './replay-table.js';
import { findStores } from './stores.js';

const names = services.map(({ name }) => name);

export const replay: CommandSpec = {
  description:
    'Prints the events of the log in order, opened where the key of their subject still exists. What was erased ' +
    'shows as its fallback, marked as erased.',
  examples: [
    ['replay --service rooms', 'all that happened in rooms'],
    ['replay --stream rooms.room-8Yt... --format ndjson', 'the history of one room, for programs'],
    ['replay --type RoomBurned --from 2026-11-01', 'which rooms were burned since'],
    ['replay --follow', 'all, and what comes'],
  ],
  options: [
    new Option('--service <name...>', 'Only these services').choices(names),
    new Option('--stream <name>', 'Only this stream'),
    new Option('--type <name...>', 'Only these types of event, for example RoomBurned').argParser(eventType),
    new Option('--actor <id>', 'Only what this actor caused'),
    new Option('--correlation <id>', 'Only what this request caused (X-Request-Id)'),
    new Option('--from <time>', `Only events since: ${INSTANT}`).argParser(instant(false)),
    new Option('--to <time>', 'Only events until then; a date stands for its whole day').argParser(instant(true)),
    new Option('--position <n>', 'Only events after this position of the log').argParser(position),
    new Option('--follow', 'Go on with what comes, until Ctrl-C'),
    new Option('--format <how>', 'table on a terminal, ndjson elsewhere').choices(['table', 'ndjson']),
  ],
  async run({ config: { values }, options }: Call) {
    const filter = filterOf(options);
    const format = options.format ?? (process.stdout.isTTY ? 'table' : 'ndjson');
    const logger = createCommandLogger(values);
    const servers = await findStores(values, logger);
    const interrupted = new AbortController();
    const interrupt = () => interrupted.abort();
    onEnd(interrupt, () => process.exit(1));
    process.stdout.once('error', interrupt);
    const kernel = await openKernel(servers, values, services, logger);
    try {
      const shown =
        format === 'table'
          ? tablePrinter(process.stdout.columns)
          : (event: RevealedEvent) => `${safe(JSON.stringify(plain(event)))}\n`;
      // Whoever follows waits for a store that does not answer, for ever.
      if (!options.follow) await kernel.head();
      const ports = { ...kernel, reveal: kernel.revealOnce };
      const start = filter.after === undefined ? 'start' : await startAfter(kernel.client, filter.after);
      const { signal } = interrupted;
      const found = replayLog(ports, filter, { live: Boolean(options.follow), start, signal });
      for await (const page of found) {
        for (const piece of pieces(page, shown)) await print(piece, signal);
        if (signal.aborted) break;
      }
      return 0;
    } catch (error) {
      throw error instanceof NoSuchStream ? new Failed(whyNothing(error)) : error;
    } finally {
      await kernel.close();
      await servers.stop();
    }
  },
};

/** Characters of a piece of output: each is a call of the system, which costs more than a line. */
const PIECE = 64 * 1024;

function* pieces(page: readonly RevealedEvent[], shown: (event: RevealedEvent) => string): Generator<string> {
  let piece = '';
  for (const event of page) {
    piece += shown(event);
    if (piece.length < PIECE) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

const whyNothing = ({ stream, found }: NoSuchStream) =>
  found === 'missing'
    ? `there is no stream ${stream}`
    : `the stream ${stream} was ended for ever; what came before is read without --stream`;

function filterOf(options: Call['options']): ReplayFilter {
  const text = (name: string) => (typeof options[name] === 'string' ? options[name] : undefined);
  return {
    services: (options.service as readonly string[] | undefined) ?? names,
    ...defined('stream', text('stream')),
    ...defined('types', options.type as readonly string[] | undefined),
    ...defined('actor', text('actor')),
    ...defined('correlation', text('correlation')),
    ...defined('from', options.from as number | undefined),
    ...defined('to', options.to as number | undefined),
    ...defined('after', options.position as bigint | undefined),
  };
}

const TYPES = new Set(services.flatMap(({ catalog }) => Object.keys(catalog.events)).concat(Object.keys(servedEvents)));

function eventType(text: string, before: readonly string[] = []): readonly string[] {
  if (TYPES.has(text)) return [...before, text];
  throw new InvalidArgumentError(`It is no type of event${suggestion(text, TYPES) || '.'}`);
}

function position(text: string): bigint {
  if (!/^\d{1,19}$/.test(text)) throw new InvalidArgumentError('It must be a position of the log.');
  return BigInt(text);
}

const defined = <Name extends string, Value>(name: Name, value: Value | undefined) =>
  (value === undefined ? {} : { [name]: value }) as { [name in Name]?: Value };

const plain = ({ position, recordedAt, ...event }: RevealedEvent) => ({
  position: String(position),
  recordedAt: new Date(recordedAt).toISOString(),
  ...event,
});
