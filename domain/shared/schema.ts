/** What events are described with: the few words of JSON Schema that we use, and the type of the data that fits them. */

/** A JSON Schema (draft 2020-12) as plain data, which ajv checks; no other keyword has a meaning in `DataOf`. */
export interface Schema {
  readonly type?: TypeName | readonly ScalarName[];
  readonly const?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Properties;
  readonly required?: readonly string[];
  /** Of members that have no name here. */
  readonly additionalProperties?: false | Schema;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
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
      : S extends { readonly type: 'object' }
        ? Members<S>
        : S extends { readonly type: 'array' }
          ? readonly (S extends { readonly items: infer Item } ? DataOf<Item> : unknown)[]
          : S extends { readonly type: infer Name extends ScalarName }
            ? Scalars[Name]
            : S extends { readonly type: readonly (infer Name extends ScalarName)[] }
              ? Scalars[Name]
              : unknown;

type EachOf<S> = S extends unknown ? DataOf<S> : never;

type Members<S> = S extends { readonly properties: infer P }
  ? S extends { readonly required: readonly (infer Name)[] }
    ? Flat<
        { readonly [name in keyof P as name extends Name ? name : never]: DataOf<P[name]> } & {
          readonly [name in keyof P as name extends Name ? never : name]?: DataOf<P[name]>;
        }
      >
    : { readonly [name in keyof P]?: DataOf<P[name]> }
  : {
      readonly [name: string]: S extends { readonly additionalProperties: infer Any } ? DataOf<Any> : unknown;
    };

type Flat<T> = { readonly [name in keyof T]: T[name] };

/** An object with all of some members, and any of others. */
export const object = <
  const Needed extends Properties,
  const Optional extends Properties = Record<never, never>,
>(
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
