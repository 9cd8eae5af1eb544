/** Describes the valid values of a setting: `an integer from 0 to 65535`. */
import type { Setting } from '../../../application/config/setting.js';

const NOUN = {
  string: 'a text',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  function: 'a function, in a configuration file that is a module',
} as const;

export function describeType({ type, enum: words, minimum, maximum, minLength, pattern, form }: Setting): string {
  if (words) return `one of ${words.join(', ')}`;
  if (pattern) return form ?? `a text that matches ${pattern}`;
  if (minLength !== undefined) return `a text of at least ${minLength} character${minLength === 1 ? '' : 's'}`;
  if (minimum !== undefined && maximum !== undefined) return `${NOUN[type]} from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return `${NOUN[type]} of at least ${minimum}`;
  return NOUN[type];
}
