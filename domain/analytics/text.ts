/** Texts that strangers send: tidied so that they can be stored, compared and shown. */
import { truncate } from '../shared/index.js';

const LONE = /\p{Surrogate}/gu;
const UNSEEN = /\p{Cc}+/gu;

const TIDY = /^[!-~]*$/;

/** Trimmed, without control characters and halves of characters, cut to `most` whole code points. */
export function clean(text: string, most: number): string {
  if (text.length <= most && TIDY.test(text)) return text;
  // Nobody is made to tidy more than can come of it.
  const tidied = truncate(text, 4 * most)
    .replace(LONE, '\uFFFD')
    .replace(UNSEEN, ' ')
    .trim();
  return tidied.length <= most ? tidied : [...tidied].slice(0, most).join('').trim();
}
