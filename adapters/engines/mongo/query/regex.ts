/** Regular expressions of the wire (PCRE) as JavaScript's, refusing what would not mean the same. */
import { Type, textOf, type Value } from '../bson/value.js';
import { CommandError } from '../errors.js';

/** What PCRE reads and JavaScript reads otherwise or not at all. */
const FOREIGN = /\\[AZzGQERXKHhVC]|\(\?(?![:=!]|<[=!]|<[A-Za-z_])|\[\[:|[*+?}]\+|\(\*/;

/**
 * The pattern of a regex value, or of a string with options. Errors: 51091 for a pattern that is invalid or
 * means something else here, 51108 for unknown options.
 */
export function regexOf(value: Value, options?: string): RegExp {
  let [source, flags] = ['', options ?? ''];
  if (value.type === Type.regex) {
    const end = value.bytes.indexOf(0, value.start);
    source = value.bytes.toString('utf8', value.start, end);
    flags = options ?? value.bytes.toString('utf8', end + 1, value.end - 1);
  } else source = textOf(value);
  for (const flag of flags)
    if (!'ims'.includes(flag)) throw new CommandError(51108, `invalid flag in regex options: ${flag}`);
  if (FOREIGN.test(source))
    throw new CommandError(51091, `Regular expression is invalid: unsupported: ${source}`);
  try {
    return new RegExp(source, [...new Set(flags)].join(''));
  } catch {
    throw new CommandError(51091, `Regular expression is invalid: ${source}`);
  }
}
