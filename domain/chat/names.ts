/** Emails and names of people: what is one, and when two are the same. */
import { isVisible } from '../shared/index.js';

export { isEmail, tidyEmail } from '../shared/index.js';

export const NAME_LENGTH = 64;

/** The name as it is shown; undefined for one of which nothing is seen, or that is too long. */
export function tidyName(name: string): string | undefined {
  const tidy = name
    .normalize('NFC')
    .replace(/[\s\p{Cc}\p{Surrogate}]+/gu, ' ')
    .trim();
  const length = [...tidy].length;
  return isVisible(tidy) && length <= NAME_LENGTH ? tidy : undefined;
}

const UNSEEN = /\p{Default_Ignorable_Code_Point}+/gu;
/** White space, and what looks like it: a Braille pattern of no dots. */
const BLANK = /[\s\u2800]+/gu;

/**
 * What two names have in common that are the same without regard to case, width and the like, and to what nobody sees: as
 * nicknames are compared (RFC 8266).
 */
export const nameKey = (name: string): string =>
  name.normalize('NFKC').replace(UNSEEN, '').replace(BLANK, ' ').trim().toLowerCase().normalize('NFKC');

/** The first of `name`, `name2`, `name3`, ... that is free. */
export function freeName(wanted: string, isTaken: (name: string) => boolean): string {
  const base = [...(tidyName([...wanted.trim()].slice(0, NAME_LENGTH).join('')) ?? 'user')];
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? '' : String(number);
    const name = base.slice(0, NAME_LENGTH - suffix.length).join('') + suffix;
    if (!isTaken(name)) return name;
  }
}
