/** `annals logs aggregate`: counts log records by a field or by time. */
import { InvalidArgumentError, Option } from 'commander';
import picocolors from 'picocolors';
import { ConfigError } from '../../../adapters/platform/config/config-error.js';
import { escapeControls } from '../../../adapters/platform/observability/safe-text.js';
import { INTERVAL_FORMAT, parseInterval } from '../../../domain/logs/timestamp.js';
import { wholeNumber } from '../argument-parsers.js';
import { print, table } from '../output.js';
import { connectionOf, fetchJson } from './connection.js';
import { filterArguments, filterOptions, filterParameters } from './filters.js';
import { logsCommand } from './run.js';

interface Counts {
  readonly buckets: readonly { readonly key: string; readonly count: number }[];
  readonly total: number;
}

const GROUPS = ['level', 'event', 'producer', 'correlation', 'time'];
/** Prefix for a field path without a dot. */
const FIELD = 'field:';
const BAR_WIDTH = 40;

const GROUPINGS = `${GROUPS.join(', ')}, the path of a field such as user.id, or ${FIELD}NAME`;

function parseGrouping(text: string): string {
  if (GROUPS.includes(text) || (text.startsWith(FIELD) && text !== FIELD) || /[^.]\.[^.]/.test(text)) return text;
  throw new InvalidArgumentError(`It must be one of ${GROUPINGS}.`);
}

function validateInterval(text: string): string {
  if (parseInterval(text) !== undefined) return text;
  throw new InvalidArgumentError(`It must be ${INTERVAL_FORMAT}.`);
}

export const aggregate = logsCommand(
  {
    description:
      'Counts log records. On a terminal the counts are shown as a table, elsewhere as NDJSON of {key, count}.',
    examples: [
      ['logs aggregate', 'records of each level'],
      ['logs aggregate --by event --level ERROR --from 1d', 'errors of the last day, by event'],
      ['logs aggregate --by user.id --limit 10', 'the most frequent values of a field'],
      ['logs aggregate --by field:status', 'by a field without a dot in its path'],
      ['logs aggregate --by time --interval 1h --from 1d', 'records of each hour'],
    ],
    arguments: filterArguments,
    options: [
      ...filterOptions,
      new Option('--by <what>', GROUPINGS).argParser(parseGrouping).default('level'),
      new Option('--interval <interval>', `For --by time: ${INTERVAL_FORMAT}`).argParser(validateInterval),
      new Option('-n, --limit <count>', 'Maximum number of groups').argParser(wholeNumber),
      new Option('--json', 'Print NDJSON on a terminal too'),
    ],
  },
  async (call, stop) => {
    const { options } = call;
    const parameters = filterParameters(call);
    const by = String(options.by);
    if (options.interval !== undefined && by !== 'time')
      throw new ConfigError('--interval', 'can only be used with --by time');
    parameters.set('groupBy', GROUPS.includes(by) ? by : 'field');
    if (!GROUPS.includes(by)) parameters.set('groupField', by.startsWith(FIELD) ? by.slice(FIELD.length) : by);
    for (const name of ['interval', 'limit']) {
      if (options[name] !== undefined) parameters.set(name, String(options[name]));
    }
    const counts = await fetchJson<Counts>(connectionOf(call), `/api/logs/aggregate?${parameters}`, {
      signal: stop,
    });
    const isForPeople = process.stdout.isTTY && !options.json;
    await print(isForPeople ? asTable(by, counts) : asLines(counts), stop);
    return 0;
  },
);

const asLines = ({ buckets }: Counts) => buckets.map((bucket) => `${JSON.stringify(bucket)}\n`).join('');

function asTable(by: string, { buckets, total }: Counts): string {
  const maxCount = Math.max(1, ...buckets.map(({ count }) => count));
  const width = Math.max(5, ...buckets.map(({ count }) => count.toLocaleString('en').length));
  const rows = buckets.map(({ key, count }) => [
    escapeControls(key),
    count.toLocaleString('en').padStart(width),
    picocolors.cyan('█'.repeat(Math.ceil((count / maxCount) * BAR_WIDTH))),
  ]);
  return `${table([[by.toUpperCase(), 'COUNT'.padStart(width), ''], ...rows])}${total.toLocaleString('en')} total\n`;
}
