/** Cleans untrusted texts for storage, comparison and display. */
import { truncate } from '../shared/index.js';

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
