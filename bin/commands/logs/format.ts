/** Log records on a terminal: one line each, colours by level, and nothing in them that moves the cursor. */
import picocolors from 'picocolors';
import { safe } from '../../../adapters/platform/observability/safe-text.js';
import { type JsonObject, parseExact } from '../../../domain/logs/json.js';

/** As the service answers it. */
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

/** Lines for people on a terminal (or with `FORCE_COLOR`), NDJSON for programs. `json`: the entry's own text. */
export type Shape = (entry: Entry, json: string) => string;

/** Already said in the line's head. */
const SAID = new Set(['timestamp', 'time', 'level', 'event', 'message', 'msg', 'v', 'pid']);

export const ndjson: Shape = (_, json) => `${json}\n`;

/** An entry in its shape, every number as it came. */
export const shaped = (shape: Shape, json: string): string => shape(parseExact(json) as Entry, json);

export const pretty = ({ timestamp, level, event, message, producerId, data }: Entry): string => {
  const { dim, bold } = picocolors;
  const colour = colourOf(level);
  const text = message ? safe(message) : '';
  const told = text && ` ${colour === picocolors.red ? colour(text) : text}`;
  // Where nothing else names the event, the service takes the message for it.
  const name = event && event !== message ? ` ${bold(safe(event))}` : '';
  const producer = producerId === 'default' ? '' : ` ${dim(`[${safe(producerId)}]`)}`;
  const fields = Object.entries(data)
    .filter(([field]) => !SAID.has(field))
    .map(
      ([field, value]) => `${safe(field)}=${typeof value === 'string' ? quoted(value) : safe(JSON.stringify(value))}`,
    );
  const rest = fields.length > 0 ? ` ${dim(fields.join(' '))}` : '';
  return `${dim(timestamp)} ${colour(safe(level).padEnd(5))}${producer}${name}${told}${rest}\n`;
};

function colourOf(level: string): (text: string) => string {
  if (/^(FATAL|ERROR|CRIT|ALERT|EMERG)/.test(level)) return picocolors.red;
  if (level.startsWith('WARN')) return picocolors.yellow;
  if (level === 'INFO' || level === 'NOTICE') return picocolors.green;
  return picocolors.dim;
}

const quoted = (text: string) => (/^[^\s"=]+$/.test(text) ? safe(text) : safe(JSON.stringify(text)));

export const shapeFor = (options: { readonly [name: string]: unknown }): Shape =>
  options.json || !process.stdout.isTTY ? ndjson : pretty;
