/** Formats rows of text as aligned columns. */

/** Pads every column but the last to its widest cell. The first row is the head and sets the number of columns. */
export function table(rows: readonly (readonly string[])[]): string {
  const [head = []] = rows;
  const widths = head.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows
    .map((row) => row.map((cell, column) => (column < head.length - 1 ? cell.padEnd(widths[column] ?? 0) : cell)))
    .map((cells) => `${cells.join('  ').trimEnd()}\n`)
    .join('');
}
