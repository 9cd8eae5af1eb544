/** `annals replay`: prints events of the log for audits, as a table or as NDJSON. */
import { InvalidArgumentError, Option } from 'commander';
import { findStartPosition } from '../../adapters/eventstore/subscription.js';
import { suggestion } from '../../adapters/platform/config/setting-names.js';
import { escapeControls } from '../../adapters/platform/observability/safe-text.js';
import { onEnd } from '../../adapters/platform/process/shutdown.js';
import { causationTree, NoSuchStream, type ReplayFilter, replay as replayLog } from '../../application/audit/index.js';
import { estimateBytes } from '../../application/concurrency/index.js';
import type { RevealedEvent } from '../../application/ports/index.js';
import { servedEvents } from '../../domain/shared/index.js';
import { definitions } from '../services/definitions/all.js';
import { INSTANT, instant } from './argument-parsers.js';
import type { Call, CommandSpec } from './command.js';
import { Failed } from './failure.js';
import { csvPrinter, print, tablePrinter, treeLine } from './output.js';
import { withKernel } from './stores.js';

const names = definitions.map(({ name }) => name);

export const replay: CommandSpec = {
  description:
    'Prints the events of the log in order, decrypted where the key of their subject still exists. Erased data is ' +
    'shown as a placeholder and marked as erased.',
  examples: [
    ['replay --service rooms', 'all events of the room service'],
    ['replay --stream rooms.room-8Yt... --format ndjson', 'the events of one room, for programs'],
    ['replay --type RoomBurned --from 2026-11-01', 'rooms burned since that day'],
    ['replay --correlation 4bf9... --format tree', 'what a request caused, step by step'],
    ['replay --service chat --subject 8Yt... --format csv', 'everything about a user, for a spreadsheet'],
    ['replay --follow', 'all events, then new ones'],
  ],
  options: [
    new Option('--service <name...>', 'Only these services').choices(names),
    new Option('--stream <name>', 'Only this stream'),
    new Option('--type <name...>', 'Only these event types, for example RoomBurned').argParser(eventType),
    new Option('--actor <id>', 'Only events of this actor'),
    new Option('--correlation <id>', 'Only events of this request (X-Request-Id)'),
    new Option('--command <id>', 'Only events of this command'),
    new Option('--subject <id>', 'Only events about this user, channel, message, room or other id'),
    new Option('--from <time>', `Only events since: ${INSTANT}`).argParser(instant(false)),
    new Option('--to <time>', 'Only events until this time; a date includes its whole day').argParser(instant(true)),
    new Option('--position <n>', 'Only events after this log position').argParser(position),
    new Option('--follow', 'Keep printing new events until Ctrl-C'),
    new Option(
      '--format <how>',
      'tree: by cause, with --correlation (default: table on a terminal, ndjson elsewhere)',
    ).choices(['table', 'ndjson', 'csv', 'tree']),
  ],
  async run({ config: { values }, options }: Call) {
    const filter = filterOf(options);
    const format = (options.format ?? (process.stdout.isTTY ? 'table' : 'ndjson')) as keyof typeof OUTPUTS;
    const interrupted = new AbortController();
    const { signal } = interrupted;
    const interrupt = () => interrupted.abort();
    onEnd(interrupt, () => process.exit(1));
    process.stdout.once('error', interrupt);
    if (format === 'tree' && (filter.correlation === undefined || options.follow))
      throw new Failed('--format tree needs --correlation, and cannot be combined with --follow');
    const output = OUTPUTS[format]();
    return withKernel(values, async ({ kernel }) => {
      // Fails early if the store does not answer; with --follow it is awaited.
      if (!options.follow) await kernel.head();
      const ports = { ...kernel, decryptEvent: kernel.decryptEventOnce };
      const start =
        filter.after === undefined ? 'start' : await findStartPosition(kernel.client, kernel.positions, filter.after);
      const eventPages = replayLog(ports, filter, { live: Boolean(options.follow), start, signal });
      for await (const page of eventPages) {
        for (const chunk of output.page(page)) await print(chunk, signal);
        if (signal.aborted) break;
      }
      for (const chunk of output.end()) await print(chunk, signal);
      return 0;
    }).catch((error) => {
      throw error instanceof NoSuchStream ? new Failed(describeMissing(error)) : error;
    });
  },
};

/** Bytes of the events of a causation tree, which are all in memory. */
const MAX_TREE_BYTES = 64 * 1024 * 1024;

/** Text of each page as it is read, and of what can only be printed at the end. */
interface Output {
  page(events: readonly RevealedEvent[]): Iterable<string>;
  end(): Iterable<string>;
}

const streamed = (formatEvent: (event: RevealedEvent) => string): Output => ({
  page: (events) => chunks(events, formatEvent),
  end: () => [],
});

function tree(): Output {
  const all: RevealedEvent[] = [];
  let bytes = 0;
  return {
    page(events) {
      all.push(...events);
      bytes += estimateBytes(events);
      if (bytes > MAX_TREE_BYTES) throw new Failed('too many events for a tree; narrow the selection');
      return [];
    },
    end: () => chunks(causationTree(all), treeLine),
  };
}

const OUTPUTS = {
  table: () => streamed(tablePrinter(process.stdout.columns)),
  ndjson: () => streamed((event) => `${escapeControls(JSON.stringify(plain(event)))}\n`),
  csv: () => streamed(csvPrinter()),
  tree,
};

/** Characters per write: a system call costs more than formatting a line. */
const CHUNK_CHARACTERS = 64 * 1024;

function* chunks<Event>(page: readonly Event[], formatEvent: (event: Event) => string): Generator<string> {
  let chunk = '';
  for (const event of page) {
    chunk += formatEvent(event);
    if (chunk.length < CHUNK_CHARACTERS) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}

const describeMissing = ({ stream, found }: NoSuchStream) =>
  found === 'missing'
    ? `there is no stream ${stream}`
    : `the stream ${stream} is deleted; events before that can be read without --stream`;

function filterOf(options: Call['options']): ReplayFilter {
  const text = (name: string) => (typeof options[name] === 'string' ? options[name] : undefined);
  return {
    services: (options.service as readonly string[] | undefined) ?? names,
    ...defined('stream', text('stream')),
    ...defined('types', options.type as readonly string[] | undefined),
    ...defined('actor', text('actor')),
    ...defined('correlation', text('correlation')),
    ...defined('command', text('command')),
    ...defined('subject', text('subject')),
    ...defined('from', options.from as number | undefined),
    ...defined('to', options.to as number | undefined),
    ...defined('after', options.position as bigint | undefined),
  };
}

const TYPES = new Set(
  definitions.flatMap(({ catalog }) => Object.keys(catalog.events)).concat(Object.keys(servedEvents)),
);

function eventType(text: string, previous: readonly string[] = []): readonly string[] {
  if (TYPES.has(text)) return [...previous, text];
  throw new InvalidArgumentError(`It is not an event type${suggestion(text, TYPES) || '.'}`);
}

function position(text: string): bigint {
  if (!/^\d{1,19}$/.test(text)) throw new InvalidArgumentError('It must be a log position.');
  return BigInt(text);
}

const defined = <Name extends string, Value>(name: Name, value: Value | undefined) =>
  (value === undefined ? {} : { [name]: value }) as { [name in Name]?: Value };

const plain = ({ position, recordedAt, ...event }: RevealedEvent) => ({
  position: String(position),
  recordedAt: new Date(recordedAt).toISOString(),
  ...event,
});
