/** CSV export (RFC 4180). Escapes text from strangers that spreadsheets would run as a formula. */

export type Cell = string | number | boolean;

/**
 * Matches the start of a formula, also after blanks and in full width. Spreadsheets of many locales split cells at
 * semicolons despite quotes, so a formula may start after any of them.
 */
const FORMULA = /(^|[;\t\r\n])([\s\p{Cc}]*[=+\-@|%＝＋－＠])|^(?=[\t\r\n])/gu;

function cell(value: Cell): string {
  if (typeof value !== 'string') return String(value);
  const text = value.replace(FORMULA, "$1'$2");
  return /[",;\t\r\n]/.test(text) || text !== value ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Starts with a byte order mark, as Excel needs it to detect UTF-8. */
export const csvOf = (headers: readonly string[], rows: readonly (readonly Cell[])[]): string =>
  `\ufeff${[headers, ...rows].map((row) => row.map(cell).join(',')).join('\r\n')}\r\n`;

/** Saves a text as a file. */
export function download(name: string, text: string | readonly string[], type = 'text/csv'): void {
  const url = URL.createObjectURL(new Blob([text].flat(), { type }));
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  // By then the browser has read it.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
