/** Validates emails and user names, and compares names. */
import { isVisible } from '../shared/index.js';

export { isEmail, tidyEmail } from '../shared/index.js';

export const NAME_LENGTH = 64;

/** Cleans a name for display; undefined when invisible or too long. */
export function tidyName(name: string): string | undefined {
  const tidy = name
    .normalize('NFC')
    .replace(/[\s\p{Cc}\p{Surrogate}]+/gu, ' ')
    .trim();
  const length = [...tidy].length;
  return isVisible(tidy) && length <= NAME_LENGTH ? tidy : undefined;
}

const UNSEEN = /\p{Default_Ignorable_Code_Point}+/gu;
/** White space, and the empty Braille pattern, which looks like it. */
const BLANK = /[\s\u2800]+/gu;

/** Comparison key that ignores case, width and invisible characters, like nicknames in RFC 8266. */
export const nameKey = (name: string): string =>
  name.normalize('NFKC').replace(UNSEEN, '').replace(BLANK, ' ').trim().toLowerCase().normalize('NFKC');

/** The first free name of `name`, `name2`, `name3`, ... */
export function freeName(preferred: string, isTaken: (name: string) => boolean): string {
  const base = [...(tidyName([...preferred.trim()].slice(0, NAME_LENGTH).join('')) ?? 'user')];
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? '' : String(number);
    const name = base.slice(0, NAME_LENGTH - suffix.length).join('') + suffix;
    if (!isTaken(name)) return name;
  }
}
