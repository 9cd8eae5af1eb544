/** A page of records as the service wrote it: parsed and written again, its numbers might not be what they were. */
import { itemsOf } from '../../../domain/logs/json-scanner.js';

export interface Page {
  /** The JSON text of every entry. */
  readonly entries: readonly string[];
  readonly nextCursor?: string;
}

export function readPage(text: string): Page {
  const { nextCursor } = JSON.parse(text) as { readonly nextCursor?: string };
  const entries: string[] = [];
  for (const member of itemsOf(text, 0))
    if (member?.key === 'entries')
      for (const entry of itemsOf(text, member.from)) if (entry) entries.push(text.slice(entry.from, entry.to));
  return { entries, ...(nextCursor === undefined ? {} : { nextCursor }) };
}
