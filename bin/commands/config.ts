/** `annals config`: shows the effective configuration and the source of each value, without secrets. */
import { Option } from 'commander';
import { maskEntry } from '../../adapters/platform/config/mask.js';
import { envName, flagName } from '../../adapters/platform/config/setting-names.js';
import type { Entry } from '../../adapters/platform/config/values.js';
import { settings } from '../settings.js';
import type { Call, CommandSpec } from './command.js';
import { table } from './output.js';

export const config: CommandSpec = {
  description:
    'Shows every setting with its effective value and its source: a flag, the environment, the ' +
    'configuration file or the default. Secrets and credentials in addresses are masked.',
  examples: [
    ['config', 'the current configuration'],
    ['config --json', 'for programs, with the names of variables and flags'],
    ['config --rooms-port 8004', 'the effect of a flag'],
  ],
  options: [new Option('--json', 'Print JSON')],
  reads: () => Object.keys(settings),
  async run({ config, options }: Call) {
    const { entries, file } = config;
    process.stdout.write(options.json ? asJson(entries, file) : asTable(entries, file));
    return 0;
  },
};

function asJson(entries: readonly Entry[], file: string | undefined): string {
  const settings = entries.map((entry) => ({
    key: entry.key,
    value: maskEntry(entry) ?? null,
    origin: entry.origin,
    environment: envName(entry.key),
    flag: flagName(entry.key),
    description: entry.setting.description,
  }));
  return `${JSON.stringify({ file: file ?? null, settings }, null, 2)}\n`;
}

function asTable(entries: readonly Entry[], file: string | undefined): string {
  const rows = [
    ['SETTING', 'VALUE', 'FROM'],
    ...entries.map((entry) => [entry.key, format(maskEntry(entry)), sourceOf(entry)]),
  ];
  return `${table(rows)}\nConfiguration file: ${file ?? 'none'}\n`;
}

const format = (value: unknown) =>
  value === undefined ? '-' : typeof value === 'string' ? value : JSON.stringify(value);

const sourceOf = ({ origin: { from, name } }: Entry) =>
  from === 'default' || from === 'file' || name === undefined ? from : `${from} ${name}`;
