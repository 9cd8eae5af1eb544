/** Writes to standard output no faster than it is read. */
import { once } from 'node:events';
import type { Writable } from 'node:stream';

/** Resolves when there is room for more, or when the signal says that no more comes; leaves no listener behind. */
export async function print(text: string, stop: AbortSignal, output: Writable = process.stdout): Promise<void> {
  if (stop.aborted || output.write(text)) return;
  // What goes wrong with the output is told to whoever listens for its errors.
  await once(output, 'drain', { signal: stop }).catch(() => {});
}
