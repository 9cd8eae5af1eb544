/** Numbers in texts, in the reader's language. */
import { language } from '../../shared/language.js';

const number = new Intl.NumberFormat(language);

/** `1,234`. */
export const formatCount = (count: number): string => number.format(count);

/** `1 record`, `1,234 records`. */
export const plural = (count: number, one: string, many = `${one}s`) =>
  `${number.format(count)} ${count === 1 ? one : many}`;
