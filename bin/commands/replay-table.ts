/** Formats events as rows of a table on a terminal. */
import { escapeControls } from '../../adapters/platform/observability/safe-text.js';
import type { RevealedEvent } from '../../application/ports/index.js';

const HEAD = ['TIME', 'POSITION', 'STREAM', 'TYPE', 'ACTOR', 'DATA'] as const;
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
    const head = hasHead ? '' : line(HEAD);
    hasHead = true;
    const content = `${erased ? '(erased) ' : ''}${JSON.stringify(data)}`;
    const where = Number.isSafeInteger(revision) ? `${stream}@${revision}` : stream;
    const time = new Date(recordedAt).toISOString();
    return head + line([time, String(position), where, type, metadata.actor ?? '-', content]);
  };
}
