/** `annals logs query`: finds log records by filters, newest first. */
import { Option } from 'commander';
import { wholeNumber } from '../argument-parsers.js';
import { print } from '../output.js';
import { connectionOf, fetchApi } from './connection.js';
import { filterArguments, filterOptions, filterParameters } from './filters.js';
import { entryFormatFor, formatEntry, readPage } from './format.js';
import { logsCommand } from './run.js';

const PAGE = 1000;

export const query = logsCommand(
  {
    description:
      'Finds log records, newest first. On a terminal they are shown as colored lines, elsewhere as NDJSON ' +
      '(one JSON object per line).',
    examples: [
      ['logs query --level ERROR --from 1h', 'the errors of the last hour'],
      ['logs query payment declined --field user.id=42', 'records of one user with both words'],
      ['logs query --correlation 4f2a --order asc --all', 'all records of a request'],
      ['logs query --all --from 1d | jq -r .message', 'all messages of the last day'],
    ],
    arguments: filterArguments,
    options: [
      ...filterOptions,
      new Option('-n, --limit <count>', 'Maximum number of records').argParser(wholeNumber).default(100),
      new Option('--all', 'All records').conflicts('limit'),
      new Option('--order <order>', 'Newest or oldest first').choices(['desc', 'asc']),
      new Option('--json', 'Print NDJSON on a terminal too'),
    ],
  },
  async (call, stop) => {
    const connection = connectionOf(call);
    const format = entryFormatFor(call.options);
    const parameters = filterParameters(call);
    if (call.options.order !== undefined) parameters.set('order', String(call.options.order));
    let remaining = call.options.all ? Number.POSITIVE_INFINITY : Number(call.options.limit);
    while (remaining > 0) {
      parameters.set('limit', String(Math.min(remaining, PAGE)));
      const response = await fetchApi(connection, `/api/logs?${parameters}`, { signal: stop });
      const page = readPage(await response.text());
      await print(page.entries.map((json) => formatEntry(format, json)).join(''), stop);
      remaining -= page.entries.length;
      if (page.nextCursor === undefined || stop.aborted) break;
      parameters.set('cursor', page.nextCursor);
    }
    return 0;
  },
);
