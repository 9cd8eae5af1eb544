/** Output of commands: results on standard output, messages on standard error. */
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { escapeControls } from '../../adapters/platform/observability/safe-text.js';
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
    const where = Number.isSafeInteger(revision) ? `${stream}@${revision}` : stream;
    const time = new Date(recordedAt).toISOString();
    return head + line([time, String(position), where, type, metadata.actor ?? '-', content]);
  };
}
