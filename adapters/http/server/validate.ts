/** Validates bodies, queries and messages by schema, and drops members not in the schema. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { JsonSchema } from '../../../domain/shared/index.js';
import { type FieldError, fieldError } from './validation-message.js';

/** Returns undefined if the value is valid; adds defaults, and converts types in queries. Throws on an invalid schema. */
export type Validate = (value: unknown) => FieldError | undefined;

/** Schemas are validated by tests; validating them at every start takes 250 ms. */
const OPTIONS = {
  validateSchema: false,
  removeAdditional: 'all',
  useDefaults: true,
  verbose: true,
  allowUnionTypes: true,
} as const;
const bodies = prepare(new Ajv2020(OPTIONS));
const strictBodies = prepare(new Ajv2020({ ...OPTIONS, removeAdditional: false }));
const queries = prepare(new Ajv2020({ ...OPTIONS, coerceTypes: true }));

/** Validates WebSocket messages. */
export const messageValidator = (schema: JsonSchema): Validate => validator('message', bodies, schema);

export const bodyValidator = (schema: JsonSchema, strict = false): Validate =>
  validator('body', strict ? strictBodies : bodies, schema);

/** Accepts only digits as integers; ajv would also convert `0x10` and `1e400`. */
export function queryValidator(schema: JsonSchema): Validate {
  const validate = validator('query', queries, schema);
  const properties = Object.entries((schema.properties ?? {}) as { readonly [name: string]: JsonSchema });
  const integers = properties.filter(([, { type }]) => type === 'integer');
  return (query) => {
    const values = query as { readonly [name: string]: unknown };
    const invalid = integers.find(([name]) => name in values && !/^-?\d+$/.test(String(values[name])));
    if (!invalid) return validate(query);
    const [name, parentSchema] = invalid;
    const error = { schemaPath: `#/properties/${name}/type`, parentSchema, params: {} };
    return fieldError('query', { ...error, keyword: 'type', instancePath: `/${name}`, data: values[name] });
  };
}

/** Schema of the `limit` of a list: at least 1; values above the maximum are reduced to it. */
export const listLimit = ({ initial, max }: { initial: number; max: number }) =>
  ({
    type: 'integer',
    minimum: 1,
    default: initial,
    'x-clamp': max,
    description: `Values above ${max} are reduced to ${max}`,
  }) as const;

/** Compiles the schema on first use, as most schemas are not used soon after the start. */
function validator(where: FieldError['where'], ajv: Ajv2020, schema: JsonSchema): Validate {
  let check: ValidateFunction | undefined;
  return (value) => {
    check ??= ajv.compile(schema);
    if (check(value)) return undefined;
    const first = check.errors?.[0];
    if (!first) throw new Error('ajv rejected a value without an error');
    return fieldError(where, first);
  };
}

function prepare(ajv: Ajv2020): Ajv2020 {
  formats.default(ajv);
  return ajv
    .removeKeyword('maxLength')
    .addKeyword({
      keyword: 'maxLength',
      type: 'string',
      schemaType: 'number',
      errors: false,
      compile: (max: number) => (text: string) => isWithin(text, max),
    })
    .addKeyword({
      keyword: 'x-clamp',
      schemaType: 'number',
      modifying: true,
      errors: false,
      compile: (max: number) => (value, at) => {
        if (at && value > max) at.parentData[at.parentDataProperty] = max;
        return true;
      },
    });
}

/** Compares characters. Ajv counts them even if the text is too short to exceed the limit, at 0.3 ms per file chunk. */
const isWithin = (text: string, max: number) =>
  text.length <= max || (text.length <= 2 * max && [...text].length <= max);
