/** The shape of a command of the program, and how commander gets to know it. */
import { type Argument, type Command, Help, Option } from 'commander';
import { loadConfig } from '../../adapters/platform/config/config.js';
import { flagNames, suggestion } from '../../adapters/platform/config/setting-names.js';
import type { Setting } from '../../application/config/setting.js';
import { type AnnalsConfig, rulesOf, type ServiceName, STORE_SETTINGS, settings } from '../settings.js';

/** A command as the help lists it. What stands behind it is loaded when it is called: much, in most of them. */
export type Listed = {
  readonly name: string;
  /** One line. */
  readonly summary: string;
} & ({ load(): Promise<CommandSpec> } | { readonly description: string; readonly commands: readonly Listed[] });

export interface CommandSpec {
  readonly description: string;
  /** A command line without the program's name, and what it does. */
  readonly examples: readonly (readonly [line: string, does: string])[];
  readonly arguments?: readonly Argument[];
  /** Besides the settings, which every command takes. */
  readonly options?: readonly Option[];
  /** Keys of the settings that it reads with these arguments, for its help; by default those of the stores. */
  reads?(args: readonly string[]): readonly string[];
  /** The services that are run with these arguments, or might be: their configuration must be one that may run. */
  serves?(args: readonly string[]): readonly ServiceName[];
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

/** `parent` gets the commands, which behave like it in help and errors; `exit` gets the exit code of the one called. */
export function addCommands(parent: Command, listed: readonly Listed[], exit: (code: number) => void) {
  for (const { name, summary, ...more } of listed) {
    const command = parent.createCommand(name).summary(summary).copyInheritedSettings(parent);
    if ('commands' in more) addCommands(command.description(more.description), more.commands, exit);
    parent.addCommand(command);
  }
  parent.hook('preSubcommand', async (_, called) => {
    const found = listed.find(({ name }) => name === called.name());
    if (found && 'load' in found) complete(called, await found.load(), exit);
  });
  // Commander's own would show the help of a command that is not loaded.
  const help = parent.createCommand('help').summary('Show help for a command').argument('[command...]');
  help.action(async (words) => {
    await parent.parseAsync([...words, '--help'], { from: 'user' });
  });
  parent.helpCommand(false).addCommand(help.copyInheritedSettings(parent));
}

/** Refuses a word that names no command, also where commander would only show help. */
export function checkCommandNames(program: Command, words: readonly string[]): void {
  let parent: Command = program;
  for (const word of words) {
    if (word.startsWith('-') || parent.commands.length === 0) return;
    if (word === 'help') continue;
    const names = parent.commands.map((each) => each.name());
    const named = parent.commands[names.indexOf(word)];
    if (!named) {
      const listed = `it must be one of ${names.join(', ')}${suggestion(word, names)}`;
      parent.error(`unknown command '${word}', ${listed}`);
    }
    parent = named;
  }
}

function complete(command: Command, spec: CommandSpec, exit: (code: number) => void) {
  command.description(spec.description).addHelpText('after', examples(spec));
  for (const argument of spec.arguments ?? []) command.addArgument(argument);
  for (const option of spec.options ?? []) command.addOption(option);
  command.addOption(new Option('--config <path>', 'Configuration file').helpGroup('Configuration:'));
  const keys = new Map<Option, string>();
  for (const [key, setting] of Object.entries(settings)) {
    for (const flag of flagNames(key, setting)) {
      const option = settingOption(flag, key, setting);
      command.addOption(option);
      keys.set(option, key);
    }
  }
  command.configureHelp({
    visibleOptions(shown) {
      const read = new Set<string>(spec.reads?.(shown.args) ?? STORE_SETTINGS);
      const options = Help.prototype.visibleOptions.call(this, shown);
      return options.filter((option) => read.has(keys.get(option) ?? '') || !keys.has(option));
    },
  });
  command.action(async () => {
    const options = command.opts();
    const { args } = command;
    const config = await loadConfig(
      settings,
      { flags: givenFlags(command), env: process.env, directory: process.cwd(), file: options.config },
      rulesOf(spec.serves?.(args) ?? []),
    );
    exit((await spec.run({ config, args, options })) ?? 0);
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
