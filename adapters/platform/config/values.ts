/** Values of settings: parsing their text, validating them, and describing which are valid. */
import type { ErrorObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Setting } from '../../../application/config/setting.js';
import { ConfigError, type Origin } from './config-error.js';

/** A setting with its value and the source of the value. */
export interface Entry {
  readonly key: string;
  readonly setting: Setting;
  readonly value: unknown;
  readonly origin: Origin;
}

const NOUN = {
  string: 'a text',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  function: 'a function, in a configuration file that is a module',
} as const;

/** Describes the valid values of a setting: `an integer from 0 to 65535`. */
function describeType({ type, enum: words, minimum, maximum, minLength, pattern, form }: Setting): string {
  if (words) return `one of ${words.join(', ')}`;
  if (pattern) return form ?? `a text that matches ${pattern}`;
  if (minLength !== undefined) return `a text of at least ${minLength} character${minLength === 1 ? '' : 's'}`;
  if (minimum !== undefined && maximum !== undefined) return `${NOUN[type]} from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return `${NOUN[type]} of at least ${minimum}`;
  return NOUN[type];
}

/** Parses the text of a variable or flag; throws a `ConfigError` if it is invalid. Lists are comma-separated or JSON. */
export function parseText(key: string, setting: Setting, text: string, origin: Origin): unknown {
  const value = parse(setting, text.trim());
  if (value === undefined) throw new ConfigError(key, `must be ${describeType(setting)}`, origin);
  return value;
}

function parse({ type }: Setting, text: string): unknown {
  switch (type) {
    case 'string':
      return text;
    case 'integer':
    case 'number':
      return /^[+-]?\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
    case 'boolean':
      return { true: true, false: false }[text.toLowerCase()];
    case 'array':
      return text.startsWith('[') ? parseJson(text) : splitList(text);
    case 'object':
      return parseJson(text);
    case 'function':
      return undefined;
  }
}

const splitList = (text: string) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Throws a `ConfigError` for the first invalid value. Skips defaults, as compiling all schemas takes 30 ms. */
export function validateValues(entries: readonly Entry[]): void {
  const configured = entries.filter(({ value, origin }) => value !== undefined && origin.from !== 'default');
  if (configured.length === 0) return;
  const dataEntries: Entry[] = [];
  for (const entry of configured) {
    const { key, setting, value, origin } = entry;
    if (setting.type !== 'function') dataEntries.push(entry);
    else if (typeof value !== 'function') throw new ConfigError(key, `must be ${describeType(setting)}`, origin);
  }
  const ajv = new Ajv2020({ allowUnionTypes: true, verbose: true, validateSchema: false }).addVocabulary([
    'secret',
    'alias',
    'form',
  ]);
  const properties = Object.fromEntries(dataEntries.map(({ key, setting }) => [key, schemaOf(setting)]));
  const check = ajv.compile({ type: 'object', properties });
  if (check(Object.fromEntries(dataEntries.map(({ key, value }) => [key, value])))) return;
  const [error] = check.errors ?? [];
  const [, key, ...path] = error?.instancePath.split('/') ?? [];
  const invalid = dataEntries.find((entry) => entry.key === key);
  if (!invalid || !error) throw new Error('ajv reported an error without a value');
  const place = path.map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`)).join('');
  throw new ConfigError(invalid.key + place, describeError(error, invalid.setting), invalid.origin);
}

/** Describes the error of the value itself, or inside a list or object. */
function describeError({ keyword, params, parentSchema }: ErrorObject, setting: Setting): string {
  if (keyword === 'required') return `needs ${params.missingProperty}`;
  return `must be ${describeType((parentSchema as Setting | undefined) ?? setting)}`;
}

const schemaOf = ({ description: _, default: __, ...schema }: Setting) => schema;
