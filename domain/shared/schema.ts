/** What data is described with: the few words of JSON Schema that events use, and the type of what fits a schema. */

/**
 * A JSON Schema (draft 2020-12) as plain data, which ajv checks. What else has a meaning in `DataOf` is for bodies and
 * queries: `default`, which is filled in there, and `patternProperties`, which lets members pass that have no name here.
 */
export interface Schema {
  readonly type?: TypeName | readonly TypeName[];
  readonly const?: string | boolean;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Properties;
  readonly required?: readonly string[];
  /** Of members that have no name here. */
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

/** The type of what fits a schema that is known to the letter (`as const`, or made by the functions below). */
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

/** By the type's name, or each of several. */
type Typed<S, Name> = Name extends 'object'
  ? Members<S>
  : Name extends 'array'
    ? readonly (S extends { readonly items: infer Item } ? DataOf<Item> : unknown)[]
    : Name extends ScalarName
      ? Scalars[Name]
      : unknown;

type Members<S> = S extends { readonly properties: infer P; readonly patternProperties?: never }
  ? Flat<
      { readonly [name in keyof P as name extends Given<S, P> ? name : never]: DataOf<P[name]> } & {
        readonly [name in keyof P as name extends Given<S, P> ? never : name]?: DataOf<P[name]>;
      }
    >
  : {
      readonly [name: string]: S extends { readonly additionalProperties: infer Any } ? DataOf<Any> : unknown;
    };

/** The names of members that are always there: they are required, or filled in where they are missing. */
type Given<S, P> =
  | (S extends { readonly required: readonly (infer Name)[] } ? Name : never)
  | { [name in keyof P]: P[name] extends { readonly default: unknown } ? name : never }[keyof P];

type Flat<T> = { readonly [name in keyof T]: T[name] };

/** An object with all of some members, and any of others. */
export const object = <const Needed extends Properties, const Optional extends Properties = Record<never, never>>(
  needed: Needed,
  optional?: Optional,
) =>
  ({
    type: 'object',
    required: Object.keys(needed) as readonly (keyof Needed & string)[],
    properties: { ...needed, ...optional } as Needed & Optional,
  }) as const;

/** What fits one of several. */
export const oneOf = <const Each extends readonly Schema[]>(...anyOf: Each) => ({ anyOf }) as const;
