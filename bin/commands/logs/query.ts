/** `annals logs query`: records that pass the filters, newest first, for people or for programs. */
import { Option } from 'commander';
import { print } from '../print.js';
import { ask, connectionOf } from './connection.js';
import { filterArguments, filterOptions, filterParameters, wholeNumber } from './filters.js';
import { shaped, shapeFor } from './format.js';
import { readPage } from './page.js';
import { logsCommand } from './run.js';

/** The most that the service gives in one answer. */
const PAGE = 1000;

export const query = logsCommand(
  {
    description:
      'Finds log records, newest first. On a terminal they are shown as lines with colours, elsewhere as NDJSON ' +
      '(one JSON object a line).',
    examples: [
      ['logs query --level ERROR --from 1h', 'the errors of the last hour'],
      ['logs query payment declined --field user.id=42', 'both words, of one user'],
      ['logs query --correlation 4f2a --order asc --all', 'the whole story of a request'],
      ['logs query --all --from 1d | jq -r .message', 'every message of a day'],
    ],
    arguments: filterArguments,
    options: [
      ...filterOptions,
      new Option('-n, --limit <count>', 'At most so many records').argParser(wholeNumber).default(100),
      new Option('--all', 'All records, however many').conflicts('limit'),
      new Option('--order <order>', 'Newest or oldest first').choices(['desc', 'asc']),
      new Option('--json', 'NDJSON on a terminal too'),
    ],
  },
  async (call, stop) => {
    const connection = connectionOf(call);
    const shape = shapeFor(call.options);
    const parameters = filterParameters(call);
    if (call.options.order !== undefined) parameters.set('order', String(call.options.order));
    let left = call.options.all ? Number.POSITIVE_INFINITY : Number(call.options.limit);
    while (left > 0) {
      parameters.set('limit', String(Math.min(left, PAGE)));
      const response = await ask(connection, `/api/logs?${parameters}`, { signal: stop });
      const page = readPage(await response.text());
      await print(page.entries.map((json) => shaped(shape, json)).join(''), stop);
      left -= page.entries.length;
      if (page.nextCursor === undefined || stop.aborted) break;
      parameters.set('cursor', page.nextCursor);
    }
    return 0;
  },
);
