/** Output of commands: results on standard output, messages on standard error. */
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { stringify } from 'csv-stringify/sync';
import { escapeControls } from '../../adapters/platform/observability/safe-text.js';
import type { CausedEvent } from '../../application/audit/index.js';
import type { RevealedEvent } from '../../application/ports/index.js';

/** Writes with backpressure: resolves when the output accepts more, or on abort. */
export async function print(text: string, stop: AbortSignal, output: Writable = process.stdout): Promise<void> {
  if (stop.aborted || output.write(text)) return;
  // Errors of the output are handled by its own 'error' listeners.
  await once(output, 'drain', { signal: stop }).catch(() => {});
}

/** Writes a line about the command itself to standard error. */
export const printError = (text: string): void => void process.stderr.write(`annals: ${escapeControls(text)}\n`);

/** Pads every column but the last to its widest cell. The first row is the head and sets the number of columns. */
export function table(rows: readonly (readonly string[])[]): string {
  const [head = []] = rows;
  const widths = head.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows
    .map((row) => row.map((cell, column) => (column < head.length - 1 ? cell.padEnd(widths[column] ?? 0) : cell)))
    .map((cells) => `${cells.join('  ').trimEnd()}\n`)
    .join('');
}

const EVENT_HEAD = ['TIME', 'POSITION', 'STREAM', 'TYPE', 'ACTOR', 'DATA'] as const;
const WIDTHS = [24, 12, 40, 20, 24] as const;
/** Characters shown of every event: all columns and the start of its data. */
const MIN_CHARACTERS = 160;

/**
 * Creates a row formatter that prints the head before the first row.
 *
 * @param columns Width of the terminal; rows are cut to the fewest whole lines that show `MIN_CHARACTERS`.
 */
export function tablePrinter(columns?: number): (event: RevealedEvent) => string {
  const maxLength = columns ? columns * Math.ceil(MIN_CHARACTERS / columns) : Number.POSITIVE_INFINITY;
  let hasHead = false;
  const line = (cells: readonly string[]) => {
    const text = cells.map((cell, column) => cell.padEnd(WIDTHS[column] ?? 0)).join(' ');
    return `${escapeControls(text).slice(0, maxLength)}\n`;
  };
  return ({ recordedAt, position, stream, type, metadata, data, erased, revision }) => {
    const head = hasHead ? '' : line(EVENT_HEAD);
    hasHead = true;
    const content = `${erased ? '(erased) ' : ''}${JSON.stringify(data)}`;
    const time = new Date(recordedAt).toISOString();
    return head + line([time, String(position), placeOf({ stream, revision }), type, metadata.actor ?? '-', content]);
  };
}

const placeOf = ({ stream, revision }: Pick<RevealedEvent, 'stream' | 'revision'>): string =>
  Number.isSafeInteger(revision) ? `${stream}@${revision}` : stream;

const CSV_HEAD =
  'recordedAt,position,stream,revision,type,actor,commandId,correlationId,causationId,erased,data\n' as const;

/** Creates a formatter of CSV rows that prints the head before the first one. Text that spreadsheets would run as a formula is quoted. */
export function csvPrinter(): (event: RevealedEvent) => string {
  let hasHead = false;
  return ({ recordedAt, position, stream, revision, type, metadata, erased, data }) => {
    const head = hasHead ? '' : CSV_HEAD;
    hasHead = true;
    const { actor = '', commandId = '', $correlationId = '', $causationId = '' } = metadata;
    const row = [new Date(recordedAt).toISOString(), String(position), stream, String(revision), type];
    row.push(actor, commandId, $correlationId, $causationId, String(erased), JSON.stringify(data));
    return head + stringify([row.map(escapeControls)], { escape_formulas: true });
  };
}

/** Formats an event of a causation tree, indented below the event that caused it. */
export const treeLine = ({ event, depth }: CausedEvent): string => {
  const { recordedAt, type, metadata, erased, data } = event;
  const cells = [new Date(recordedAt).toISOString(), type, placeOf(event), metadata.actor ?? '-'];
  return `${'  '.repeat(depth)}${escapeControls(`${cells.join(' ')} ${erased ? '(erased) ' : ''}${JSON.stringify(data)}`)}\n`;
};
