/** Text functions: normalization, truncation, comparison of secrets, email addresses, URLs, file names. */

/** Trims, collapses white space and truncates to `maxLength` code points. */
export const tidy = (text: string, maxLength: number): string =>
  [...text.trim().replace(/\s+/gu, ' ')].slice(0, maxLength).join('').trim();

/** Truncates to `maxLength` UTF-16 units. Copies the text, because in V8 a slice retains the whole original. */
export const truncate = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : [...text.slice(0, maxLength)].join('');

/** Includes the Braille blank (U+2800), which Unicode classifies as a symbol. */
const INVISIBLE = /^[\p{Default_Ignorable_Code_Point}\s\u2800]*$/u;

/** Whether a text has any visible character. */
export const isVisible = (text: string): boolean => !INVISIBLE.test(text);

/** Code points. */
export const lengthOf = (text: string): number => [...text].length;

/** Trims a name; undefined when invisible or longer than `maxLength` code points. */
export function fitName(name: string, maxLength: number): string | undefined {
  const trimmed = name.normalize('NFC').trim();
  return isVisible(trimmed) && lengthOf(trimmed) <= maxLength ? trimmed : undefined;
}

/** Compares two texts in constant time for their length, to prevent timing attacks. */
export function sameText(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let index = 0; index < a.length; index++) difference |= a.charCodeAt(index) ^ b.charCodeAt(index);
  return difference === 0;
}

const EMAIL = /^[^\s@<>()[\]\\,;:"\p{Cc}\p{Surrogate}]+@[^\s@<>()[\]\\,;:"\p{Cc}\p{Surrogate}]+$/u;
const MAX_EMAIL_LENGTH = 254;

/** Normalizes an address for comparison and storage. */
export const tidyEmail = (email: string): string => email.trim().toLowerCase();

/** Whether a normalized address is valid. */
export const isEmail = (email: string): boolean => email.length <= MAX_EMAIL_LENGTH && EMAIL.test(email);

/**
 * Parses a URL; undefined if it is invalid. Does not use `URL.canParse`: after some thousand calls, once optimized,
 * Node 20 rejects all URLs with letters such as `ü`.
 */
export function readUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

const LONE_SURROGATE = /\p{Surrogate}/gu;
const CONTROL = /\p{Cc}+/gu;
const PLAIN = /^[!-~]*$/;

/** Trims, replaces control characters and lone surrogates, truncates to `maxLength` code points. */
export function clean(text: string, maxLength: number): string {
  if (text.length <= maxLength && PLAIN.test(text)) return text;
  // Truncate first, so that huge inputs cost nothing.
  const cleaned = truncate(text, 4 * maxLength)
    .replace(LONE_SURROGATE, '\uFFFD')
    .replace(CONTROL, ' ')
    .trim();
  return cleaned.length <= maxLength ? cleaned : [...cleaned].slice(0, maxLength).join('').trim();
}

const FILE_NAME_LENGTH = 255;
const EXTENSION = /^(?<base>.*[^.])\.(?<extension>[A-Za-z]{1,8})$/s;
/** Control characters, lone surrogates, and bidirectional controls that would disguise a name. */
const UNSEEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu;

/** Last part of a path, cleaned for display; undefined when blank or too long. */
export function tidyFileName(name: string): string | undefined {
  const last = name
    .replace(/^.*[/\\]/s, '')
    .replace(UNSEEN, '')
    .normalize('NFC')
    .trim();
  return last !== '' && lengthOf(last) <= FILE_NAME_LENGTH ? last : undefined;
}

/** Lower-case extension of a file name; undefined without one or without a base name. */
export const extensionOf = (name: string): string | undefined => EXTENSION.exec(name)?.groups?.extension?.toLowerCase();
