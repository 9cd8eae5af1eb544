/** Writes to standard output with backpressure. */
import { once } from 'node:events';
import type { Writable } from 'node:stream';

/** Resolves when the output accepts more, or on abort. */
export async function print(text: string, stop: AbortSignal, output: Writable = process.stdout): Promise<void> {
  if (stop.aborted || output.write(text)) return;
  // Errors of the output are handled by its own 'error' listeners.
  await once(output, 'drain', { signal: stop }).catch(() => {});
}
