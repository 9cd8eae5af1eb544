/** Reads pages of log records, and formats records for a terminal: colored by level, without control characters. */
import picocolors from 'picocolors';
import { escapeControls } from '../../../adapters/platform/observability/safe-text.js';
import { type JsonObject, parseExact } from '../../../domain/logs/json.js';
import { scanItems } from '../../../domain/logs/json-scanner.js';

export type Entry = {
  readonly id: string;
  readonly timestamp: string;
  readonly level: string;
  readonly event?: string | null;
  readonly message?: string | null;
  readonly producerId: string;
  readonly correlationId?: string | null;
  readonly data: JsonObject;
};

/** Formats an entry: lines for people on a terminal (or with `FORCE_COLOR`), NDJSON for programs. `json`: its raw text. */
export type EntryFormat = (entry: Entry, json: string) => string;

/** Fields already shown at the start of the line. */
const HEAD_FIELDS = new Set(['timestamp', 'time', 'level', 'event', 'message', 'msg', 'v', 'pid']);

export const ndjson: EntryFormat = (_, json) => `${json}\n`;

/** Formats the JSON of an entry, with the exact digits of all numbers. */
export const formatEntry = (format: EntryFormat, json: string): string => format(parseExact(json) as Entry, json);

export const pretty = ({ timestamp, level, event, message, producerId, data }: Entry): string => {
  const { dim, bold } = picocolors;
  const color = colorOf(level);
  const text = message ? escapeControls(message) : '';
  const messagePart = text && ` ${color === picocolors.red ? color(text) : text}`;
  // The service uses the message as event name if there is no other.
  const name = event && event !== message ? ` ${bold(escapeControls(event))}` : '';
  const producer = producerId === 'default' ? '' : ` ${dim(`[${escapeControls(producerId)}]`)}`;
  const fields = Object.entries(data)
    .filter(([field]) => !HEAD_FIELDS.has(field))
    .map(
      ([field, value]) =>
        `${escapeControls(field)}=${typeof value === 'string' ? quoted(value) : escapeControls(JSON.stringify(value))}`,
    );
  const rest = fields.length > 0 ? ` ${dim(fields.join(' '))}` : '';
  return `${dim(timestamp)} ${color(escapeControls(level).padEnd(5))}${producer}${name}${messagePart}${rest}\n`;
};

function colorOf(level: string): (text: string) => string {
  if (/^(FATAL|ERROR|CRIT|ALERT|EMERG)/.test(level)) return picocolors.red;
  if (level.startsWith('WARN')) return picocolors.yellow;
  if (level === 'INFO' || level === 'NOTICE') return picocolors.green;
  return picocolors.dim;
}

const quoted = (text: string) =>
  /^[^\s"=]+$/.test(text) ? escapeControls(text) : escapeControls(JSON.stringify(text));

export const entryFormatFor = (options: { readonly [name: string]: unknown }): EntryFormat =>
  options.json || !process.stdout.isTTY ? ndjson : pretty;

/** Reads a page of records as raw JSON of its entries; parsing would lose digits of large numbers. */
export function readPage(text: string) {
  const { nextCursor } = JSON.parse(text) as { readonly nextCursor?: string };
  const entries: string[] = [];
  for (const member of scanItems(text, 0))
    if (member?.key === 'entries')
      for (const entry of scanItems(text, member.from)) if (entry) entries.push(text.slice(entry.from, entry.to));
  return { entries, nextCursor };
}
