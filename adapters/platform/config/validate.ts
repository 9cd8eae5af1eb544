/** Checks configured values against their settings. */
import type { ErrorObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Setting } from '../../../application/config/setting.js';
import { ConfigError, type Origin } from './config-error.js';
import { describeType } from './describe-type.js';

/** A setting with the value it has, and whence. */
export interface Entry {
  readonly key: string;
  readonly setting: Setting;
  readonly value: unknown;
  readonly origin: Origin;
}

/**
 * Throws a `ConfigError` for the first one that is wrong. Defaults are checked by tests: to compile the schemas of all
 * settings takes each command a thirtieth of a second.
 */
export function checkValues(entries: readonly Entry[]): void {
  const set = entries.filter(({ value, origin }) => value !== undefined && origin.from !== 'default');
  if (set.length === 0) return;
  const ajv = new Ajv2020({ allowUnionTypes: true, verbose: true, validateSchema: false }).addVocabulary([
    'secret',
    'alias',
    'form',
  ]);
  const asFunction = set.find(({ setting, value }) => setting.type === 'function' && typeof value !== 'function');
  if (asFunction) refuse(asFunction);
  const asData = set.filter(({ setting }) => setting.type !== 'function');
  const properties = Object.fromEntries(asData.map(({ key, setting }) => [key, schemaOf(setting)]));
  const check = ajv.compile({ type: 'object', properties });
  if (check(Object.fromEntries(asData.map(({ key, value }) => [key, value])))) return;
  const [error] = check.errors ?? [];
  const [, key, ...path] = error?.instancePath.split('/') ?? [];
  const wrong = asData.find((entry) => entry.key === key);
  if (!wrong || !error) throw new Error('ajv refused a value without saying which');
  const place = path.map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`)).join('');
  throw new ConfigError(wrong.key + place, complaint(error, wrong.setting), wrong.origin);
}

/** About the value itself, or about what is wrong inside a list or an object. */
function complaint({ keyword, params, parentSchema }: ErrorObject, setting: Setting): string {
  if (keyword === 'required') return `needs ${params.missingProperty}`;
  return `must be ${describeType((parentSchema as Setting | undefined) ?? setting)}`;
}

const schemaOf = ({ description: _, default: __, ...schema }: Setting) => schema;

function refuse({ key, setting, origin }: Entry): never {
  throw new ConfigError(key, `must be ${describeType(setting)}`, origin);
}
