/** Finds mentions in a text: `@name` at its start, after a space or an opening bracket. */
import { NAME_LENGTH, nameKey } from './names.js';

/** Everyone in the channel, or everyone online. */
const ALL: readonly string[] = ['channel', 'here'];

/** Candidates checked per text. */
const MAX_MENTIONS = 200;

/** Possible name ends looked up per candidate: names contain few spaces and full stops. */
const MAX_ENDS = 16;

const MENTION_START = /(?<=^|[\s([{<])@/gu;
/** A name may end before a non-word character; a full stop or hyphen within a word does not end it. */
const END = /(?=$|\s|[^\p{L}\p{N}_])(?![.\-+@][\p{L}\p{N}])/gu;

/** User ids, `@channel` and `@here`, each once and in order. `find` looks up users by `nameKey`. */
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

/** The longest name at the start of the text. */
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
