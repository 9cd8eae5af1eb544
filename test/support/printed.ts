/** What programs under test have printed lately: a failure on a machine that nobody sees tells of nothing else. */
const LINES = 40;

const printed = new Set<readonly string[]>();

/** Told with each failure from now on; gives what ends that. */
export function tellOfFailures(lines: readonly string[]): () => void {
  printed.add(lines);
  return () => printed.delete(lines);
}

export const lastPrinted = (): readonly string[] => [...printed].flatMap((lines) => lines.slice(-LINES));
