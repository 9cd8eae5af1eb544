/** Defines commands of the program and registers them with commander. */
import { type Argument, type Command, Help, Option } from 'commander';
import { loadConfig } from '../../adapters/platform/config/config.js';
import { flagNames, suggestion } from '../../adapters/platform/config/setting-names.js';
import type { Setting } from '../../application/config/setting.js';
import { type AnnalsConfig, rulesOf, type ServiceName, STORE_SETTINGS, settings } from '../settings.js';

/** Exit code: everything was processed, but some lines of the input were rejected. */
export const SOME_REJECTED = 3;
/** Exit code: ended by Ctrl-C, by the convention of shells. */
export const INTERRUPTED = 130;

/** A command as the help lists it. Its module is loaded when it is called, as most import much. */
export type Listed = {
  readonly name: string;
  /** One line. */
  readonly summary: string;
} & ({ load(): Promise<CommandSpec> } | { readonly description: string; readonly commands: readonly Listed[] });

export interface CommandSpec {
  readonly description: string;
  /** Command lines without the program name, with a description. */
  readonly examples: readonly (readonly [line: string, description: string])[];
  readonly arguments?: readonly Argument[];
  /** In addition to the settings, which every command accepts. */
  readonly options?: readonly Option[];
  /** Keys of the settings it uses with these arguments, for its help. Default: those of the stores. */
  reads?(args: readonly string[]): readonly string[];
  /** The services these arguments run: the configuration is validated for them. */
  serves?(args: readonly string[]): readonly ServiceName[];
  /** Resolves with the exit code, default 0. Rejects with `ConfigError` for mistakes in the command line or settings. */
  run(call: Call): Promise<number | undefined>;
}

export interface Call {
  readonly config: AnnalsConfig;
  /** All arguments, variadic ones flattened. */
  readonly args: readonly string[];
  readonly options: { readonly [name: string]: unknown };
}

/** Adds commands that inherit help and error settings from `parent`. `exit` receives the exit code. */
export function addCommands(parent: Command, listed: readonly Listed[], exit: (code: number) => void) {
  for (const { name, summary, ...more } of listed) {
    const command = parent.createCommand(name).summary(summary).copyInheritedSettings(parent);
    if ('commands' in more) addCommands(command.description(more.description), more.commands, exit);
    parent.addCommand(command);
  }
  parent.hook('preSubcommand', async (_, called) => {
    const command = listed.find(({ name }) => name === called.name());
    if (command && 'load' in command) complete(called, await command.load(), exit);
  });
  // Commander's own help command does not load the module of the command.
  const help = parent.createCommand('help').summary('Show help for a command').argument('[command...]');
  help.action(async (words) => {
    await parent.parseAsync([...words, '--help'], { from: 'user' });
  });
  parent.helpCommand(false).addCommand(help.copyInheritedSettings(parent));
}

/** Fails for an unknown command, also where commander would only show help. */
export function checkCommandNames(program: Command, words: readonly string[]): void {
  let parent: Command = program;
  for (const word of words) {
    if (word.startsWith('-') || parent.commands.length === 0) return;
    if (word === 'help') continue;
    const names = parent.commands.map((each) => each.name());
    const command = parent.commands[names.indexOf(word)];
    if (!command) {
      const expected = `it must be one of ${names.join(', ')}${suggestion(word, names)}`;
      parent.error(`unknown command '${word}', ${expected}`);
    }
    parent = command;
  }
}

function complete(command: Command, spec: CommandSpec, exit: (code: number) => void) {
  command.description(spec.description).addHelpText('after', examples(spec));
  for (const argument of spec.arguments ?? []) command.addArgument(argument);
  for (const option of spec.options ?? []) command.addOption(option);
  const file = new Option('--config <path>', 'Configuration file, .json, .mjs or .js (default: annals.config.*)');
  command.addOption(file.helpGroup('Configuration:'));
  const keys = new Map<Option, string>();
  for (const [key, setting] of Object.entries(settings)) {
    for (const flag of flagNames(key, setting)) {
      const option = settingOption(flag, key, setting);
      command.addOption(option);
      keys.set(option, key);
    }
  }
  command.configureHelp({
    visibleOptions(target) {
      const read = new Set<string>(spec.reads?.(target.args) ?? STORE_SETTINGS);
      const options = Help.prototype.visibleOptions.call(this, target);
      return options.filter((option) => read.has(keys.get(option) ?? '') || !keys.has(option));
    },
  });
  command.action(async () => {
    const options = command.opts();
    const { args } = command;
    const config = await loadConfig(
      settings,
      { flags: flagsOfCommandLine(command), env: process.env, directory: process.cwd(), file: options.config },
      rulesOf(spec.serves?.(args) ?? []),
    );
    exit((await spec.run({ config, args, options })) ?? 0);
  });
}

function settingOption(flag: string, key: string, setting: Setting): Option {
  const { type, description, default: initial, enum: words } = setting;
  const value = type === 'boolean' ? '[true|false]' : `<${words?.join('|') ?? VALUE_NAMES[type] ?? type}>`;
  const section = key.includes('.') ? key.slice(0, key.indexOf('.')) : 'general';
  const suffix = initial === undefined ? '' : ` (default: ${[initial].flat().join(', ') || 'none'})`;
  return new Option(`${flag} ${value}`, description + suffix).helpGroup(`Settings, ${section}:`);
}

const VALUE_NAMES: { readonly [type: string]: string } = {
  string: 'text',
  array: 'list',
  object: 'json',
};

/** Only flags of the command line, so that file and environment apply to the rest. */
function flagsOfCommandLine(command: Command): { [flag: string]: string } {
  const flags: { [flag: string]: string } = {};
  for (const [key, setting] of Object.entries(settings)) {
    for (const flag of flagNames(key, setting)) {
      const name = new Option(flag).attributeName();
      if (command.getOptionValueSource(name) === 'cli') flags[flag] = String(command.getOptionValue(name));
    }
  }
  return flags;
}

function examples({ examples }: CommandSpec): string {
  const width = Math.max(...examples.map(([line]) => line.length));
  const lines = examples.map(([line, description]) => `  annals ${line.padEnd(width)}  ${description}`);
  return `\nExamples:\n${lines.join('\n')}`;
}
