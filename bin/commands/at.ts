/** `annals at`: shows a thing as it was at a time, from the event log. */
import { Argument, Option } from 'commander';
import { escapeControls } from '../../adapters/platform/observability/safe-text.js';
import { createStateAt, describeKinds, type StateAt } from '../../application/audit/index.js';
import { isRejection } from '../../domain/shared/index.js';
import { definitions } from '../services/definitions/all.js';
import { INSTANT, instant } from './argument-parsers.js';
import type { Call, CommandSpec } from './command.js';
import { Failed } from './failure.js';
import { table } from './output.js';
import { withKernel } from './stores.js';

const kinds = definitions.flatMap(({ things = [] }) => things);

const parseTime = instant(false);

export const at: CommandSpec = {
  description:
    'Shows a message, channel, user, room, meeting room, site or the alert policy as it was at a time, from its events ' +
    'recorded until then. What was erased since is shown as (erased). Works with or without a running server. Changes ' +
    'no data.',
  examples: [
    ['at 2026-11-27T09:30Z message:1kQ...', 'a message with its text then, edits and reactions'],
    ['at 2026-11-01 channel:8Yt...', 'a channel at the start of that day'],
    ['at 2h user:50A... --format json', 'a user two hours ago, for programs'],
    ['at 7d policy', 'the alert policy a week ago'],
  ],
  arguments: [
    new Argument('<time>', `${INSTANT}; in UTC unless it has an offset`).argParser(parseTime),
    new Argument('<thing>', describeKinds(kinds)),
  ],
  options: [new Option('--format <how>', 'Default: table on a terminal, json elsewhere').choices(['table', 'json'])],
  async run({ config: { values }, args: [time = '', thing = ''], options }: Call) {
    const format = options.format ?? (process.stdout.isTTY ? 'table' : 'json');
    return withKernel(values, async ({ kernel }) => {
      const result = await createStateAt(kernel, kinds)(thing, parseTime(time));
      if (isRejection(result)) throw new Failed(result.detail ?? result.rejected);
      const text = format === 'json' ? `${escapeControls(JSON.stringify(result.found))}\n` : describe(result.found);
      process.stdout.write(text);
      return 0;
    });
  },
};

function describe({ state, ...head }: StateAt): string {
  const rows = Object.entries({ ...head, ...state }).map(([name, value]) => [name, escapeControls(plain(value))]);
  return table([['PROPERTY', 'VALUE'], ...rows]);
}

const plain = (value: unknown) => (typeof value === 'string' ? value : value === null ? '-' : JSON.stringify(value));
