/** Loads the configuration: flags over environment over file over defaults, validated, each value with its source. */
import type { Rule, Settings, ValuesOf } from '../../../application/config/setting.js';
import { ConfigError, type Origin } from './config-error.js';
import { readConfigFile } from './config-file.js';
import { byName, envNames, flagNames, suggestion } from './setting-names.js';
import { type Entry, parseText, validateValues } from './values.js';

export interface Sources {
  /** Values by flag name, such as `--rooms-port`. */
  readonly flags: { readonly [flag: string]: string };
  readonly env: { readonly [name: string]: string | undefined };
  /** Directory to search for a configuration file. */
  readonly directory: string;
  /** The file of `--config`. Without it, a file with a default name is read if it exists. */
  readonly file?: string;
}

export interface Config<S extends Settings> {
  readonly values: ValuesOf<S>;
  /** One per setting, in declaration order; an unset value is undefined. */
  readonly entries: readonly Entry[];
  /** Path of the file that was read. */
  readonly file?: string;
}

interface SourcedValue {
  readonly value: unknown;
  readonly origin: Origin;
}

/** Rejects with a `ConfigError` for the first problem. */
export async function loadConfig<const S extends Settings>(
  settings: S,
  { flags, env, directory, file }: Sources,
  rules: readonly Rule<S>[] = [],
): Promise<Config<S>> {
  const read = await readConfigFile(directory, file);
  const sourced = new Map<string, SourcedValue>([
    ...(read ? readFileValues(settings, read.content, read.path) : []),
    ...readEnvironment(settings, env),
    ...readFlags(settings, flags),
  ]);
  const entries = Object.entries(settings).map(([key, setting]): Entry => {
    const { value, origin } = sourced.get(key) ?? { value: setting.default, origin: { from: 'default' } };
    return { key, setting, value, origin };
  });
  validateValues(entries);
  const values = Object.fromEntries(entries.map(({ key, value }) => [key, value])) as ValuesOf<S>;
  for (const rule of rules) {
    const broken = rule(values);
    if (broken) throw new ConfigError(broken.key, broken.reason, originOf(entries, broken.key));
  }
  return { values, entries, ...(read ? { file: read.path } : {}) };
}

/** Undefined for an unset value. */
function originOf(entries: readonly Entry[], key: string): Origin | undefined {
  const entry = entries.find((each) => each.key === key);
  return entry?.value === undefined ? undefined : entry.origin;
}

/** Reads settings from nested objects and dotted names, which are equivalent. */
function* readFileValues(
  settings: Settings,
  content: object,
  path: string,
  prefix = '',
): Generator<[string, SourcedValue]> {
  const origin: Origin = { from: 'file', name: path };
  for (const [name, value] of Object.entries(content)) {
    const key = prefix + name;
    if (Object.hasOwn(settings, key)) {
      if (value !== undefined) yield [key, { value, origin }];
    } else if (isSection(settings, key) && typeof value === 'object' && value !== null) {
      yield* readFileValues(settings, value, path, `${key}.`);
    } else {
      throw new ConfigError(key, `is not a setting${suggestion(key, Object.keys(settings))}`, origin);
    }
  }
}

const isSection = (settings: Settings, key: string) => Object.keys(settings).some((each) => each.startsWith(`${key}.`));

function* readEnvironment(settings: Settings, env: Sources['env']): Generator<[string, SourcedValue]> {
  const names = byName(settings, envNames);
  const own = Object.entries(env).filter(([name]) => names.has(name) || name.startsWith('ANNALS_'));
  yield* readTexts(settings, names, own, 'environment');
}

const readFlags = (settings: Settings, flags: Sources['flags']) =>
  readTexts(settings, byName(settings, flagNames), Object.entries(flags), 'flag');

/** @param keys Keys of settings by name. */
function* readTexts(
  settings: Settings,
  keys: ReadonlyMap<string, string>,
  texts: Iterable<[name: string, text: string | undefined]>,
  from: 'environment' | 'flag',
): Generator<[string, SourcedValue]> {
  for (const [name, text] of texts) {
    const origin: Origin = { from, name };
    const key = keys.get(name);
    if (key === undefined) throw new ConfigError(name, `is not a setting${suggestion(name, keys.keys())}`, origin);
    if (text !== undefined) yield [key, { value: parseText(key, settings[key]!, text, origin), origin }];
  }
}
