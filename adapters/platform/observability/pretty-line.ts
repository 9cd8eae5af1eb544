/** Formats a log line for people: time, level, message, then the fields. */
import picocolors from 'picocolors';
import { escapeControls } from './safe-text.js';

const COLORS: { readonly [level: string]: (text: string) => string } = {
  debug: picocolors.gray,
  info: picocolors.green,
  warn: picocolors.yellow,
  error: picocolors.red,
};

/** @param json A line of the JSON log. */
export function prettyLine(json: string): string {
  const { level, time, msg, err, ...fields } = JSON.parse(json);
  const color = COLORS[level] ?? String;
  const rest = Object.entries(fields).map(([name, value]) => `${name}=${format(value)}`);
  const head = `${picocolors.dim(timeOfDay(time))} ${color(String(level).padEnd(5))} ${escapeControls(msg ?? '')}`;
  const line = rest.length > 0 ? `${head} ${picocolors.dim(rest.join(' '))}` : head;
  return err ? `${line}\n${color(indent(err.stack ?? messageOf(err)))}\n` : `${line}\n`;
}

const messageOf = ({ message, cause }: { message: string; cause?: { message: string } }) =>
  cause ? `${message}: ${cause.message}` : message;
const format = (value: unknown) => escapeControls(typeof value === 'string' ? value : JSON.stringify(value));
const indent = (text: unknown) =>
  String(text)
    .split('\n')
    .map((line) => `    ${escapeControls(line)}`)
    .join('\n');

function timeOfDay(time: string): string {
  const date = new Date(time);
  return `${date.toTimeString().slice(0, 8)}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}
