/** Validates bodies, queries and messages by schema, drops members not in it, and names the first invalid field. */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { JsonSchema } from '../../../domain/shared/index.js';

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

export interface FieldError {
  readonly where: 'body' | 'query' | 'message';
  /** Path to the field, for example `signingPublicKey/x`; empty for the whole value. */
  readonly field: string;
  /** Name of the field for people: the schema's `title`, or derived from its name: `Signing public key`. */
  readonly label: string;
  readonly keyword: string;
  readonly complaint: string;
  /** `<label> is required`, `is invalid`, `is too short`, `is too long`, `is not known`. */
  readonly message: string;
}

/** Needs ajv's `verbose` option, which adds the schema of an error. */
function fieldError(where: FieldError['where'], error: ErrorObject): FieldError {
  const { keyword } = error;
  const path = error.instancePath.split('/').slice(1).map(unescapePointer);
  // Some errors concern a member of the object they point to.
  const member: string | undefined = error.params.missingProperty ?? error.params.additionalProperty;
  if (member !== undefined) path.push(member);
  const label = titleOf(error, member) ?? humanise(path, where);
  const complaint = complaintOf(error);
  return { where, field: path.join('/'), label, keyword, complaint, message: `${label} ${complaint}` };
}

/** The message with the path of the field: `campaign.utm_source is invalid`; within a list also with its `index`. */
export function messageWithPath({ field, label, complaint }: FieldError, index?: number): string {
  const path = [...(index === undefined ? [] : [`[${index}]`]), ...(field === '' ? [] : field.split('/'))];
  return `${path.length === 0 ? label : path.join('.')} ${complaint}`;
}

function complaintOf({ keyword, data }: ErrorObject): string {
  if (keyword === 'required' || (keyword === 'minLength' && data === '')) return 'is required';
  if (keyword === 'minLength' || keyword === 'minItems') return 'is too short';
  if (keyword === 'additionalProperties') return 'is not known';
  if (keyword === 'maxLength' || keyword === 'maxItems') return 'is too long';
  return 'is invalid';
}

function titleOf({ parentSchema }: ErrorObject, member: string | undefined): string | undefined {
  const schema: JsonSchema | undefined = member === undefined ? parentSchema : parentSchema?.properties?.[member];
  return typeof schema?.title === 'string' ? schema.title : undefined;
}

/** `signingPublicKey` becomes `Signing public key`; items are named by their list. */
function humanise(path: readonly string[], where: FieldError['where']): string {
  const name = path.findLast((part) => !/^\d+$/.test(part));
  if (name === undefined) return `The ${where}`;
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/[_-]+/g, ' ')
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const unescapePointer = (part: string) => part.replaceAll('~1', '/').replaceAll('~0', '~');
