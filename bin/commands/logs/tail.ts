/** `annals logs tail`: new records as they come, over restarts and broken connections. */
import { setTimeout as delay } from 'node:timers/promises';
import { Option } from 'commander';
import { print } from '../print.js';
import { ask, type Connection, connectionOf, Refused, Unreachable } from './connection.js';
import { eventsOf } from './event-stream.js';
import { filterArguments, filterOptions, filterParameters, wholeNumberFrom } from './filters.js';
import { type Entry, type Shape, shaped, shapeFor } from './format.js';
import { readPage } from './page.js';
import { logsCommand } from './run.js';

const BACKOFF_MS = { first: 250, most: 10_000 };
const BUSY = [408, 429, 502, 503, 504];

export const tail = logsCommand(
  {
    description:
      'Shows the newest records and then every new one that passes the filters, until it is interrupted. A ' +
      'connection that breaks is made again and goes on where it was.',
    examples: [
      ['logs tail', 'everything'],
      ['logs tail --level ERROR,FATAL -n 0', 'errors from now on'],
      ['logs tail --json | jq .data', 'for programs'],
    ],
    arguments: filterArguments,
    options: [
      ...filterOptions,
      new Option('-n, --lines <count>', 'Begin with so many of the newest records')
        .argParser(wholeNumberFrom(0))
        .default(10),
      new Option('--json', 'NDJSON on a terminal too'),
    ],
  },
  async (call, stop) => {
    const connection = connectionOf(call);
    const shape = shapeFor(call.options);
    const parameters = filterParameters(call);
    const lines = Number(call.options.lines);
    const begun = lines > 0 ? await newest(connection, parameters, lines, shape, stop) : undefined;
    await follow(connection, parameters, begun, shape, stop);
    return 0;
  },
);

/** What was shown before the stream: all up to `from`, and maybe some that the stream tells once more. */
interface Begun {
  readonly from: string | undefined;
  readonly ids: ReadonlySet<string>;
}

/** Shows the newest records. */
async function newest(
  connection: Connection,
  filters: URLSearchParams,
  lines: number,
  shape: Shape,
  signal: AbortSignal,
): Promise<Begun> {
  const parameters = new URLSearchParams([...filters, ['limit', String(Math.min(lines, 1000))]]);
  const response = await ask(connection, `/api/logs?${parameters}`, { signal });
  const { entries } = readPage(await response.text());
  const newestLast = entries.toReversed();
  await print(newestLast.map((json) => shaped(shape, json)).join(''), signal);
  const ids = new Set(entries.map((json) => (JSON.parse(json) as Entry).id));
  return { from: response.headers.get('position') ?? undefined, ids };
}

async function follow(
  connection: Connection,
  parameters: URLSearchParams,
  begun: Begun | undefined,
  shape: Shape,
  stop: AbortSignal,
): Promise<void> {
  let cursor = begun?.from;
  // A batch that was cut short comes again whole: what was shown of it is known by its ids.
  const shown = new Set<string>();
  let wait = BACKOFF_MS.first;
  let connected = begun !== undefined;
  while (!stop.aborted) {
    try {
      const response = await ask(connection, `/api/logs/tail?${parameters}`, {
        headers: {
          Accept: 'text/event-stream',
          ...(cursor === undefined ? {} : { 'Last-Event-ID': cursor }),
        },
        signal: stop,
      });
      [connected, wait] = [true, BACKOFF_MS.first];
      for await (const { id, data } of eventsOf(response, stop)) {
        if (data) await show(data, begun?.ids, shown, shape, stop);
        if (!id) continue;
        cursor = id;
        shown.clear();
      }
    } catch (error) {
      if (stop.aborted) return;
      // At the start it is more likely a wrong address than a service that restarts.
      if (!connected || (error instanceof Refused && !BUSY.includes(error.status))) throw error;
      process.stderr.write(
        `annals: ${error instanceof Unreachable ? error.message : 'the connection broke'}, trying again\n`,
      );
    }
    await delay(wait * (0.5 + Math.random()), undefined, { signal: stop }).catch(() => {});
    wait = Math.min(wait * 2, BACKOFF_MS.most);
  }
}

/** A message that is no record tells of the stream itself. */
async function show(
  data: string,
  before: ReadonlySet<string> | undefined,
  shown: Set<string>,
  shape: Shape,
  stop: AbortSignal,
): Promise<void> {
  const message = JSON.parse(data) as Partial<Entry> & { readonly type?: string };
  if (message.id !== undefined && message.timestamp !== undefined) {
    if (before?.has(message.id) || shown.has(message.id)) return;
    shown.add(message.id);
    await print(shaped(shape, data), stop);
  } else if (message.type === 'RESET') {
    process.stderr.write('annals: the connection was away for too long, some records are not shown\n');
  }
}
