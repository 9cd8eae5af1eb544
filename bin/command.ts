/** The shape of a command of the program, and how commander gets to know it. */
import { type Argument, Command, Option } from 'commander';
import { loadConfig } from '../adapters/system/config.js';
import { flagNames } from '../adapters/system/names.js';
import type { Setting } from '../application/settings.js';
import { type AnnalsConfig, rules, settings } from './settings.js';

export interface CommandSpec {
  readonly name: string;
  /** One line, for the list of commands. */
  readonly summary: string;
  readonly description: string;
  /** A command line without the program's name, and what it does. */
  readonly examples: readonly (readonly [line: string, does: string])[];
  readonly arguments?: readonly Argument[];
  /** Besides the settings, which every command takes. */
  readonly options?: readonly Option[];
  /** Resolves to the exit code, 0 if it is nothing else. Throws a `ConfigError` for what the user can put right. */
  run(call: Call): Promise<number | undefined>;
}

export interface Call {
  readonly config: AnnalsConfig;
  /** The arguments; those that may be repeated are all here, one after the other. */
  readonly args: readonly string[];
  /** The command's own options, by commander's names (`--dry-run` is `dryRun`). */
  readonly options: { readonly [name: string]: unknown };
}

/** `exit` gets the command's exit code. */
export function toCommander(spec: CommandSpec, exit: (code: number) => void): Command {
  const command = new Command(spec.name)
    .summary(spec.summary)
    .description(spec.description)
    .addHelpText('after', examples(spec));
  for (const argument of spec.arguments ?? []) command.addArgument(argument);
  for (const option of spec.options ?? []) command.addOption(option);
  command.addOption(new Option('--config <path>', 'Configuration file').helpGroup('Configuration:'));
  for (const [key, setting] of Object.entries(settings)) {
    for (const flag of flagNames(key, setting)) command.addOption(settingOption(flag, key, setting));
  }
  return command.action(async () => {
    const options = command.opts();
    const config = await loadConfig(
      settings,
      { flags: givenFlags(command), env: process.env, directory: process.cwd(), file: options.config },
      rules,
    );
    exit((await spec.run({ config, args: command.args, options })) ?? 0);
  });
}

function settingOption(flag: string, key: string, setting: Setting): Option {
  const { type, description, default: initial, enum: words } = setting;
  const value = type === 'boolean' ? '[true|false]' : `<${words?.join('|') ?? VALUE_NAMES[type] ?? type}>`;
  const section = key.includes('.') ? key.slice(0, key.indexOf('.')) : 'general';
  const shown = initial === undefined ? '' : ` (default: ${[initial].flat().join(', ') || 'none'})`;
  return new Option(`${flag} ${value}`, description + shown).helpGroup(`Settings, ${section}:`);
}

const VALUE_NAMES: { readonly [type: string]: string } = {
  string: 'text',
  array: 'list',
  object: 'json',
};

/** Only what stands on the command line, so that file and environment can be heard for the rest. */
function givenFlags(command: Command): { [flag: string]: string } {
  const given: { [flag: string]: string } = {};
  for (const [key, setting] of Object.entries(settings)) {
    for (const flag of flagNames(key, setting)) {
      const name = new Option(flag).attributeName();
      if (command.getOptionValueSource(name) === 'cli') given[flag] = String(command.getOptionValue(name));
    }
  }
  return given;
}

function examples({ examples }: CommandSpec): string {
  const width = Math.max(...examples.map(([line]) => line.length));
  const lines = examples.map(([line, does]) => `  annals ${line.padEnd(width)}  ${does}`);
  return `\nExamples:\n${lines.join('\n')}`;
}
