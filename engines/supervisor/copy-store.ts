/** Copies an embedded store as it is at one moment, also while its engine goes on writing to it. */
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { flushDirectory, flushFile, privateDirectory } from './private-files.js';
import { checkStore, type EngineKind, FILES } from './store-check.js';

export interface StoreToCopy {
  /** The same again means that nothing was written in between, by whoever. */
  written(): number;
  /**
   * Copies what is committed now to its place in another data directory, flushed, without the pages that were given
   * back: what was removed is not in it. Gives the size in bytes; rejects with lmdb's error. Nobody waits for it.
   */
  copyTo(dataDir: string): Promise<number>;
  close(): Promise<void>;
}

/** Throws `StoreDamaged` where there is none, and makes none. The engine may run, or be started or killed meanwhile. */
export async function openToCopy(dataDir: string, kind: EngineKind): Promise<StoreToCopy> {
  checkStore(dataDir, kind);
  const { open } = await import('lmdb');
  const file = FILES[kind];
  // As the engine opens it: two processes may, of which this one writes nothing.
  const environment = open({ path: dirname(join(dataDir, file)), readOnly: true, noMemInit: true });
  return {
    written() {
      const { lastTxnId = 0 }: { lastTxnId?: number } = environment.getStats();
      return lastTxnId;
    },
    async copyTo(to) {
      const copy = join(to, file);
      privateDirectory(dirname(copy));
      await environment.backup(dirname(copy), true);
      flushFile(copy);
      flushDirectory(dirname(copy));
      return statSync(copy).size;
    },
    close: () => environment.close(),
  };
}
