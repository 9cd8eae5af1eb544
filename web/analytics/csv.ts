/** Tables as CSV (RFC 4180), for spreadsheets: whatever visitors have sent is text in them, and never a formula. */
import { element } from '../shared/dom.js';

export type Cell = string | number | boolean;

/**
 * What spreadsheets take for the beginning of a formula, also behind blanks and in full width. In many countries they part
 * cells by semicolons, whatever commas and quotes say: there a cell begins behind each of those, too.
 */
const FORMULA = /(^|[;\t\r\n])([\s\p{Cc}]*[=+\-@|%＝＋－＠])|^(?=[\t\r\n])/gu;

function cell(value: Cell): string {
  if (typeof value !== 'string') return String(value);
  const text = value.replace(FORMULA, "$1'$2");
  return /[",;\t\r\n]/.test(text) || text !== value ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The mark at its beginning tells Excel that it is UTF-8. */
export const csvOf = (heads: readonly string[], rows: readonly (readonly Cell[])[]): string =>
  `\ufeff${[heads, ...rows].map((row) => row.map(cell).join(',')).join('\r\n')}\r\n`;

export function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  element('a', { href: url, download: name }).click();
  // By then the browser has taken it.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
