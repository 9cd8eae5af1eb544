/** Splits a page of records into the raw JSON of its entries; parsing would lose digits of large numbers. */
import { scanItems } from '../../../domain/logs/json-scanner.js';

export interface Page {
  /** The JSON text of every entry. */
  readonly entries: readonly string[];
  readonly nextCursor?: string;
}

export function readPage(text: string): Page {
  const { nextCursor } = JSON.parse(text) as { readonly nextCursor?: string };
  const entries: string[] = [];
  for (const member of scanItems(text, 0))
    if (member?.key === 'entries')
      for (const entry of scanItems(text, member.from)) if (entry) entries.push(text.slice(entry.from, entry.to));
  return { entries, ...(nextCursor === undefined ? {} : { nextCursor }) };
}
