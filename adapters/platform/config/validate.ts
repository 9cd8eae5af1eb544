/** Validates configured values against their settings. */
import type { ErrorObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Setting } from '../../../application/config/setting.js';
import { ConfigError, type Origin } from './config-error.js';
import { describeType } from './describe-type.js';

/** A setting with its value and the source of the value. */
export interface Entry {
  readonly key: string;
  readonly setting: Setting;
  readonly value: unknown;
  readonly origin: Origin;
}

/**
 * Throws a `ConfigError` for the first invalid value. Defaults are covered by tests: compiling the schemas of all
 * settings takes 30 ms at every command.
 */
export function validateValues(entries: readonly Entry[]): void {
  const configured = entries.filter(({ value, origin }) => value !== undefined && origin.from !== 'default');
  if (configured.length === 0) return;
  const ajv = new Ajv2020({ allowUnionTypes: true, verbose: true, validateSchema: false }).addVocabulary([
    'secret',
    'alias',
    'form',
  ]);
  const notFunction = configured.find(
    ({ setting, value }) => setting.type === 'function' && typeof value !== 'function',
  );
  if (notFunction) refuse(notFunction);
  const dataEntries = configured.filter(({ setting }) => setting.type !== 'function');
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

function refuse({ key, setting, origin }: Entry): never {
  throw new ConfigError(key, `must be ${describeType(setting)}`, origin);
}
