/** Who is called by a text: `@name` at its start, after a space or an opening bracket. */
import { NAME_LENGTH, nameKey } from './names.js';

/** Calls everybody in the channel, or everybody who is there just now. */
const ALL: readonly string[] = ['channel', 'here'];

/** Looked at in one text; nobody means more of them. */
const MOST = 200;

/** Names are asked for at no more ends than this: they have few spaces and full stops. */
const ENDS = 16;

const CALL = /(?<=^|[\s([{<])@/gu;
/** Where a name may end: before what is no part of a word. A full stop or hyphen within a word is a part of it. */
const END = /(?=$|\s|[^\p{L}\p{N}_])(?![.\-+@][\p{L}\p{N}])/gu;

/** Ids of users, and `@channel` and `@here`, each once and in order. `find` knows users by the `nameKey` of their names. */
export function mentionsOf(content: string, find: (key: string) => string | undefined): readonly string[] {
  const mentions = new Set<string>();
  let looked = 0;
  for (const { index } of content.matchAll(CALL)) {
    if (looked++ === MOST) break;
    const mention = calledBy(content.slice(index + 1, index + 1 + 2 * NAME_LENGTH), find);
    if (mention !== undefined) mentions.add(mention);
  }
  return [...mentions];
}

/** The longest name that a text begins with. */
function calledBy(text: string, find: (key: string) => string | undefined): string | undefined {
  if (/^\s/.test(text)) return undefined;
  const ends: number[] = [];
  for (const { index } of text.matchAll(END)) {
    if (index > 0) ends.push(index);
    if (ends.length === ENDS) break;
  }
  for (const end of ends.toReversed()) {
    const key = nameKey(text.slice(0, end));
    if (ALL.includes(key)) return `@${key}`;
    const userId = find(key);
    if (userId !== undefined) return userId;
  }
  return undefined;
}
