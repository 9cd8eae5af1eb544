/** JSON Schema subset for events, and the TypeScript type of a schema's data. */

/**
 * JSON Schema (draft 2020-12), validated by ajv. `DataOf` also supports two keywords of request bodies and queries:
 * `default`, which fills in missing members, and `patternProperties`, which allows members not listed here.
 */
export interface Schema {
  readonly type?: TypeName | readonly TypeName[];
  readonly const?: string | boolean;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Properties;
  readonly required?: readonly string[];
  /** Schema of members not listed in `properties`. */
  readonly additionalProperties?: false | Schema;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

export type Properties = { readonly [name: string]: Schema };

interface Scalars {
  readonly string: string;
  readonly integer: number;
  readonly number: number;
  readonly boolean: boolean;
  readonly null: null;
}

type ScalarName = keyof Scalars;
type TypeName = ScalarName | 'array' | 'object';

/** Type of the data of a literal schema (`as const`, or created by the functions below). */
export type DataOf<S> = S extends { readonly const: infer Value }
  ? Value
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : S extends { readonly anyOf: readonly (infer Each)[] }
      ? EachOf<Each>
      : S extends { readonly type: readonly (infer Name)[] }
        ? Typed<S, Name>
        : S extends { readonly type: infer Name }
          ? Typed<S, Name>
          : unknown;

type EachOf<S> = S extends unknown ? DataOf<S> : never;

/** Type by JSON Schema type name; distributes over several names. */
type Typed<S, Name> = Name extends 'object'
  ? Members<S>
  : Name extends 'array'
    ? readonly (S extends { readonly items: infer Item } ? DataOf<Item> : unknown)[]
    : Name extends ScalarName
      ? Scalars[Name]
      : unknown;

type Members<S> = S extends { readonly properties: infer P; readonly patternProperties?: never }
  ? Flat<
      { readonly [name in keyof P as name extends PresentNames<S, P> ? name : never]: DataOf<P[name]> } & {
        readonly [name in keyof P as name extends PresentNames<S, P> ? never : name]?: DataOf<P[name]>;
      }
    >
  : {
      readonly [name: string]: S extends { readonly additionalProperties: infer Any } ? DataOf<Any> : unknown;
    };

/** Names of members that are always present: required, or filled in by `default`. */
type PresentNames<S, P> =
  | (S extends { readonly required: readonly (infer Name)[] } ? Name : never)
  | { [name in keyof P]: P[name] extends { readonly default: unknown } ? name : never }[keyof P];

type Flat<T> = { readonly [name in keyof T]: T[name] };

export const id = { type: 'string', minLength: 1 } as const;
export const text = { type: 'string' } as const;
export const flag = { type: 'boolean' } as const;
export const count = { type: 'integer', minimum: 0 } as const;
/** Unix ms. */
export const time = count;
export const none = { type: 'null' } as const;

/** Creates an object schema with required and optional members. */
export const object = <const Required extends Properties, const Optional extends Properties = Record<never, never>>(
  required: Required,
  optional?: Optional,
) =>
  ({
    type: 'object',
    required: Object.keys(required) as readonly (keyof Required & string)[],
    properties: { ...required, ...optional } as Required & Optional,
  }) as const;

/** Creates a schema that accepts any of several. */
export const oneOf = <const Each extends readonly Schema[]>(...anyOf: Each) => ({ anyOf }) as const;
