/** Formats a log line for a terminal: time, level, message, then the fields. */
import picocolors from 'picocolors';
import { safe } from './safe-text.js';

const COLOURS: { readonly [level: string]: (text: string) => string } = {
  debug: picocolors.gray,
  info: picocolors.green,
  warn: picocolors.yellow,
  error: picocolors.red,
};

/** Formats a JSON line of the log. */
export function prettyLine(json: string): string {
  const { level, time, msg, err, ...fields } = JSON.parse(json);
  const colour = COLOURS[level] ?? String;
  const rest = Object.entries(fields).map(([name, value]) => `${name}=${formatValue(value)}`);
  const head = `${picocolors.dim(clock(time))} ${colour(String(level).padEnd(5))} ${safe(msg ?? '')}`;
  const line = rest.length > 0 ? `${head} ${picocolors.dim(rest.join(' '))}` : head;
  return err ? `${line}\n${colour(indent(err.stack ?? messageOf(err)))}\n` : `${line}\n`;
}

const messageOf = ({ message, cause }: { message: string; cause?: { message: string } }) =>
  cause ? `${message}: ${cause.message}` : message;
const formatValue = (value: unknown) => safe(typeof value === 'string' ? value : JSON.stringify(value));
const indent = (text: unknown) =>
  String(text)
    .split('\n')
    .map((line) => `    ${safe(line)}`)
    .join('\n');

function clock(time: string): string {
  const date = new Date(time);
  return `${date.toTimeString().slice(0, 8)}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}
