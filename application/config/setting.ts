/** Setting schema: plain data from which configuration, flags, help and the masked listing are derived. */

/** JSON Schema of a setting with metadata. Without a default it is optional. */
export interface Setting {
  /** `function` is only possible in a configuration file that is a module. */
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object' | 'function';
  readonly description: string;
  readonly default?: unknown;
  /** Masked when the configuration is printed. */
  readonly secret?: true;
  /** Additional environment variable and flag, by full name. */
  readonly alias?: { readonly env: string; readonly flag: string };
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  /** Description of the pattern that completes "must be ...". */
  readonly form?: string;
  readonly enum?: readonly string[];
  readonly items?: object;
  readonly properties?: object;
}

interface Range {
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Whole number; at least 1 unless the range says otherwise. */
export const integer = (initial: number, description: string, range: Range = {}) =>
  ({ type: 'integer', minimum: 1, ...range, default: initial, description }) as const;

export const port = (initial: number, description: string) =>
  integer(initial, description, { minimum: 0, maximum: 65_535 });

export const boolean = (initial: boolean, description: string) =>
  ({ type: 'boolean', default: initial, description }) as const;

/** Text with a default. */
export const text = (initial: string, description: string, limits: { readonly minLength?: number } = {}) =>
  ({ type: 'string', ...limits, default: initial, description }) as const;

/** Optional text. */
export const string = (description: string) => ({ type: 'string', description }) as const;

export const strings = (initial: readonly string[], description: string) =>
  ({ type: 'array', items: { type: 'string' }, default: initial, description }) as const;

/** Characters allowed in a bearer token: those that a header transmits unchanged. */
export const VISIBLE = '[!-~]';

export const tokenOf = <const MinLength extends number>(minLength: MinLength) =>
  ({
    type: 'string',
    pattern: `^${VISIBLE}{${minLength},}$`,
    form: `at least ${minLength} visible ASCII characters`,
  }) as const;

/** Settings by key, for example `rooms.createPerHour`; the first part is the service. */
export type Settings = { readonly [key: string]: Setting };

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

/** Rule over several settings. Returns the invalid key and the reason, phrased to follow the key. */
export type Rule<S extends Settings> = (
  values: ValuesOf<S>,
) => { readonly key: string; readonly reason: string } | undefined;
