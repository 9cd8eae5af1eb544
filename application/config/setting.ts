/** The shape of a service's settings: plain data, from which configuration, flags, help and the masked listing come. */

/** A JSON Schema for the value, with what people and programs need besides. Without a default it may be unset. */
export interface Setting {
  /** `function` can only come from a configuration file that is a module. */
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object' | 'function';
  readonly description: string;
  readonly default?: unknown;
  /** Masked wherever the configuration is shown. */
  readonly secret?: true;
  /** A further environment variable and flag that set it, by their full names. */
  readonly alias?: { readonly env: string; readonly flag: string };
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  /** What the pattern asks for, in words: the end of "must be". */
  readonly form?: string;
  readonly enum?: readonly string[];
  readonly items?: object;
  readonly properties?: object;
}

/** What a bearer token consists of: a header carries nothing else as it is. */
export const VISIBLE = '[!-~]';

/** A bearer token, of so many characters at least: a part of a setting. */
export const tokenOf = <const Least extends number>(minLength: Least) =>
  ({
    type: 'string',
    pattern: `^${VISIBLE}{${minLength},}$`,
    form: `at least ${minLength} visible characters of ASCII`,
  }) as const;

/** By key, for example `rooms.createPerHour`. The first word is the service's. */
export type Settings = { readonly [key: string]: Setting };

/** The values of a table of settings written `as const satisfies Settings`. */
export type ValuesOf<S extends Settings> = {
  readonly [key in keyof S]: S[key] extends { readonly default: unknown }
    ? ValueOf<S[key]>
    : ValueOf<S[key]> | undefined;
};

type ValueOf<S extends Setting> = S extends { readonly enum: readonly (infer Word)[] }
  ? Word
  : {
      string: string;
      integer: number;
      number: number;
      boolean: boolean;
      array: S extends { readonly items: { readonly type: 'string' } } ? readonly string[] : readonly unknown[];
      object: { readonly [key: string]: unknown };
      function: (...args: never[]) => unknown;
    }[S['type']];

/** A combination of values that must not run: the key to blame, and why, as the end of a sentence about it. */
export type Rule<S extends Settings> = (
  values: ValuesOf<S>,
) => { readonly key: string; readonly reason: string } | undefined;
