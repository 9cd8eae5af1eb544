/** Checks configured values against their settings. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Setting } from '../../application/settings.js';
import type { Entry } from './config.js';
import { ConfigError } from './config-error.js';
import { describeType } from './describe-type.js';

/** Throws a `ConfigError` for the first one that is wrong. Defaults are checked like all others. */
export function checkValues(entries: readonly Entry[]): void {
  const ajv = new Ajv2020({ allowUnionTypes: true }).addVocabulary(['secret', 'alias']);
  const set = entries.filter(({ value }) => value !== undefined);
  const asFunction = set.find(
    ({ setting, value }) => setting.type === 'function' && typeof value !== 'function',
  );
  if (asFunction) refuse(asFunction);
  const asData = set.filter(({ setting }) => setting.type !== 'function');
  const properties = Object.fromEntries(asData.map(({ key, setting }) => [key, schemaOf(setting)]));
  const check = ajv.compile({ type: 'object', properties });
  if (check(Object.fromEntries(asData.map(({ key, value }) => [key, value])))) return;
  const key = check.errors?.[0]?.instancePath.split('/')[1];
  const wrong = asData.find((entry) => entry.key === key);
  if (wrong) refuse(wrong);
}

const schemaOf = ({ description: _, default: __, ...schema }: Setting) => schema;

function refuse({ key, setting, origin }: Entry): never {
  throw new ConfigError(key, `must be ${describeType(setting)}`, origin);
}
