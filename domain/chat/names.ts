/** User names: validation, comparison, and mentions in a text. */
import { isVisible, lengthOf, type PersistentMap } from '../shared/index.js';

const NAME_LENGTH = 64;

/** Cleans a name for display; undefined when invisible or too long. */
export function tidyName(name: string): string | undefined {
  const tidy = name
    .normalize('NFC')
    .replace(/[\s\p{Cc}\p{Surrogate}]+/gu, ' ')
    .trim();
  return isVisible(tidy) && lengthOf(tidy) <= NAME_LENGTH ? tidy : undefined;
}

const UNSEEN = /\p{Default_Ignorable_Code_Point}+/gu;
/** White space, and the empty Braille pattern, which looks like it. */
const BLANK = /[\s\u2800]+/gu;

/** Comparison key that ignores case, width and invisible characters, like nicknames in RFC 8266. */
export const nameKey = (name: string): string =>
  name.normalize('NFKC').replace(UNSEEN, '').replace(BLANK, ' ').trim().toLowerCase().normalize('NFKC');

type Owners = PersistentMap<string>;

/** Ids by key. The first owner keeps a key: two names may count as equal only under newer rules. Erased ones are empty. */
export const claimKey = (owners: Owners, key: string, id: string): Owners =>
  key === '' || owners.has(key) ? owners : owners.set(key, id);

export const releaseKey = (owners: Owners, key: string, id: string): Owners =>
  owners.get(key) === id ? owners.delete(key) : owners;

/** The first free name of `name`, `name2`, `name3`, ... */
export function freeName(preferred: string, isTaken: (name: string) => boolean): string {
  const base = [...(tidyName([...preferred.trim()].slice(0, NAME_LENGTH).join('')) ?? 'user')];
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? '' : String(number);
    const name = base.slice(0, NAME_LENGTH - suffix.length).join('') + suffix;
    if (!isTaken(name)) return name;
  }
}

/** Everyone in the channel, or everyone online. */
const ALL: readonly string[] = ['channel', 'here'];

const MAX_MENTIONS = 200;

/** Possible name ends looked up per candidate: names contain few spaces and full stops. */
const MAX_ENDS = 16;

const MENTION_START = /(?<=^|[\s([{<])@/gu;
/** A name may end before a non-word character; a full stop or hyphen within a word does not end it. */
const END = /(?=$|\s|[^\p{L}\p{N}_])(?![.\-+@][\p{L}\p{N}])/gu;

/**
 * Finds mentions (`@name` at the start, after a space or an opening bracket): user ids, `@channel` and `@here`, each once
 * and in order. `find` looks up users by `nameKey`.
 */
export function mentionsOf(content: string, find: (key: string) => string | undefined): readonly string[] {
  const mentions = new Set<string>();
  let checked = 0;
  for (const { index } of content.matchAll(MENTION_START)) {
    if (checked++ === MAX_MENTIONS) break;
    const mention = matchMention(content.slice(index + 1, index + 1 + 2 * NAME_LENGTH), find);
    if (mention !== undefined) mentions.add(mention);
  }
  return [...mentions];
}

function matchMention(text: string, find: (key: string) => string | undefined): string | undefined {
  if (/^\s/.test(text)) return undefined;
  const ends: number[] = [];
  for (const { index } of text.matchAll(END)) {
    if (index > 0) ends.push(index);
    if (ends.length === MAX_ENDS) break;
  }
  for (const end of ends.toReversed()) {
    const key = nameKey(text.slice(0, end));
    if (ALL.includes(key)) return `@${key}`;
    const userId = find(key);
    if (userId !== undefined) return userId;
  }
  return undefined;
}
