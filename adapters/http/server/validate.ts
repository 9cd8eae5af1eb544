/** Checks bodies and queries against the routes' schemas, dropping what the schema does not name. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { JsonSchema } from '../../../domain/shared/index.js';
import { type FieldError, fieldError } from './validation-message.js';

/** Undefined when the value (now with defaults, and in a query converted) is as it should be. Throws on a wrong schema. */
export type Validate = (value: unknown) => FieldError | undefined;

/** That schemas are ones is tested; to look again, at every start, takes a quarter of a second. */
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

/** For a message of a WebSocket. */
export const messageValidator = (schema: JsonSchema): Validate => validator('message', bodies, schema);

export const bodyValidator = (schema: JsonSchema, strict = false): Validate =>
  validator('body', strict ? strictBodies : bodies, schema);

/** Integers of a query are digits only: what else ajv would convert (`0x10`, `1e400`) is none. */
export function queryValidator(schema: JsonSchema): Validate {
  const validate = validator('query', queries, schema);
  const properties = Object.entries((schema.properties ?? {}) as { readonly [name: string]: JsonSchema });
  const integers = properties.filter(([, { type }]) => type === 'integer');
  return (query) => {
    const given = query as { readonly [name: string]: unknown };
    const wrong = integers.find(([name]) => name in given && !/^-?\d+$/.test(String(given[name])));
    if (!wrong) return validate(query);
    const [name, parentSchema] = wrong;
    const about = { schemaPath: `#/properties/${name}/type`, parentSchema, params: {} };
    return fieldError('query', { ...about, keyword: 'type', instancePath: `/${name}`, data: given[name] });
  };
}

/** The `limit` of a list: an integer of at least 1, where more than the maximum counts as the maximum. */
export const listLimit = ({ initial, max }: { initial: number; max: number }) =>
  ({
    type: 'integer',
    minimum: 1,
    default: initial,
    'x-clamp': max,
    description: `More than ${max} counts as ${max}`,
  }) as const;

/** Compiles when there is something to check first: most of a start's schemas are for what nobody asks soon, if ever. */
function validator(where: FieldError['where'], ajv: Ajv2020, schema: JsonSchema): Validate {
  let check: ValidateFunction | undefined;
  return (value) => {
    check ??= ajv.compile(schema);
    if (check(value)) return undefined;
    const first = check.errors?.[0];
    if (!first) throw new Error('ajv refused a value without saying why');
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

/** In characters. Ajv counts them even where there can not be too many, which took 0.3 ms for each piece of a file. */
const isWithin = (text: string, max: number) =>
  text.length <= max || (text.length <= 2 * max && [...text].length <= max);
