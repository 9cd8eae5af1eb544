/** Events as rows of a table, for an auditor's terminal. */
import { safe } from '../../adapters/platform/observability/safe-text.js';
import type { RevealedEvent } from '../../application/ports/index.js';

const HEAD = ['TIME', 'POSITION', 'STREAM', 'TYPE', 'ACTOR', 'DATA'] as const;
const WIDTHS = [24, 12, 40, 20, 24] as const;
/** What is seen of an event in any case: all columns, and the beginning of its data. */
const LEAST = 160;

/** A printer of rows, the head before the first. On a terminal each takes whole lines of it, as few as show enough. */
export function tablePrinter(columns?: number): (event: RevealedEvent) => string {
  const most = columns ? columns * Math.ceil(LEAST / columns) : Number.POSITIVE_INFINITY;
  let begun = false;
  const line = (cells: readonly string[]) => {
    const text = cells.map((cell, column) => cell.padEnd(WIDTHS[column] ?? 0)).join(' ');
    return `${safe(text).slice(0, most)}\n`;
  };
  return ({ recordedAt, position, stream, type, metadata, data, erased, revision }) => {
    const head = begun ? '' : line(HEAD);
    begun = true;
    const content = `${erased ? '(erased) ' : ''}${JSON.stringify(data)}`;
    const where = Number.isSafeInteger(revision) ? `${stream}@${revision}` : stream;
    const time = new Date(recordedAt).toISOString();
    return head + line([time, String(position), where, type, metadata.actor ?? '-', content]);
  };
}
