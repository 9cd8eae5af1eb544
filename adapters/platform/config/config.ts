/** The effective configuration: flags over environment over file over defaults, checked, each value with its origin. */
import type { Rule, Settings, ValuesOf } from '../../../application/config/setting.js';
import { ConfigError, type Origin } from './config-error.js';
import { readConfigFile } from './config-file.js';
import { parseText } from './parse-text.js';
import { byName, envNames, flagNames, suggestion } from './setting-names.js';
import { checkValues, type Entry } from './validate.js';

export interface Sources {
  /** By the flag's name, `--rooms-port`, as they were given. */
  readonly flags: { readonly [flag: string]: string };
  readonly env: { readonly [name: string]: string | undefined };
  /** Where a configuration file is looked for. */
  readonly directory: string;
  /** The file to read, from `--config`; without it one of the usual names is read if it is there. */
  readonly file?: string;
}

export interface Config<S extends Settings> {
  readonly values: ValuesOf<S>;
  /** One per setting, in the order of the table; an unset value is undefined. */
  readonly entries: readonly Entry[];
  /** The file that was read. */
  readonly file?: string;
}

interface Given {
  readonly value: unknown;
  readonly origin: Origin;
}

/** Rejects with a `ConfigError` for the first thing that is wrong. */
export async function loadConfig<const S extends Settings>(
  settings: S,
  { flags, env, directory, file }: Sources,
  rules: readonly Rule<S>[] = [],
): Promise<Config<S>> {
  const read = await readConfigFile(directory, file);
  const given = new Map<string, Given>([
    ...(read ? fromFile(settings, read.content, read.path) : []),
    ...fromEnvironment(settings, env),
    ...fromFlags(settings, flags),
  ]);
  const entries = Object.entries(settings).map(([key, setting]): Entry => {
    const { value, origin } = given.get(key) ?? { value: setting.default, origin: { from: 'default' } };
    return { key, setting, value, origin };
  });
  checkValues(entries);
  const values = Object.fromEntries(entries.map(({ key, value }) => [key, value])) as ValuesOf<S>;
  for (const rule of rules) {
    const broken = rule(values);
    if (broken) throw new ConfigError(broken.key, broken.reason, originOf(entries, broken.key));
  }
  return { values, entries, ...(read ? { file: read.path } : {}) };
}

/** None for what is not set at all. */
function originOf(entries: readonly Entry[], key: string): Origin | undefined {
  const entry = entries.find((each) => each.key === key);
  return entry?.value === undefined ? undefined : entry.origin;
}

/** Nested objects and dotted names mean the same. */
function* fromFile(settings: Settings, content: object, path: string, prefix = ''): Generator<[string, Given]> {
  const origin: Origin = { from: 'file', name: path };
  for (const [name, value] of Object.entries(content)) {
    const key = prefix + name;
    if (Object.hasOwn(settings, key)) {
      if (value !== undefined) yield [key, { value, origin }];
    } else if (isSection(settings, key) && typeof value === 'object' && value !== null) {
      yield* fromFile(settings, value, path, `${key}.`);
    } else {
      throw new ConfigError(key, `is no setting${suggestion(key, Object.keys(settings))}`, origin);
    }
  }
}

const isSection = (settings: Settings, key: string) => Object.keys(settings).some((each) => each.startsWith(`${key}.`));

function* fromEnvironment(settings: Settings, env: Sources['env']): Generator<[string, Given]> {
  const keys = byName(settings, envNames);
  for (const [name, text] of Object.entries(env)) {
    const origin: Origin = { from: 'environment', name };
    const key = keys.get(name);
    if (key === undefined) {
      if (!name.startsWith('ANNALS_')) continue;
      throw new ConfigError(name, `is no setting${suggestion(name, keys.keys())}`, { from: 'environment' });
    }
    if (text !== undefined) yield [key, { value: parseText(key, settings[key]!, text, origin), origin }];
  }
}

function* fromFlags(settings: Settings, flags: Sources['flags']): Generator<[string, Given]> {
  const keys = byName(settings, flagNames);
  for (const [name, text] of Object.entries(flags)) {
    const origin: Origin = { from: 'flag', name };
    const key = keys.get(name);
    if (key === undefined) throw new ConfigError(name, `is no setting${suggestion(name, keys.keys())}`, origin);
    yield [key, { value: parseText(key, settings[key]!, text, origin), origin }];
  }
}
