/** Copies an embedded store as of one moment, even while its engine keeps writing. */
import { chmodSync, constants, statSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ensurePrivateDirectory, flushDirectory, flushFile } from './private-files.js';
import { checkStore, checkStores, type EngineKind, FILES } from './store-check.js';

export interface CopySource {
  /** Number of the last committed transaction. An equal value later means nothing was written in between. */
  lastTransactionId(): number;
  /**
   * Copies the committed state to its place in another data directory and flushes it. Free pages are left out, so
   * removed data is not copied. Resolves to the size in bytes; rejects with lmdb's error. Does not block writers.
   */
  copyTo(dataDir: string): Promise<number>;
  close(): Promise<void>;
}

/**
 * Opens a store for copying. Throws `StoreDamaged` if it is missing; never creates one. The engine may run, start or
 * be killed meanwhile.
 */
export async function openCopySource(dataDir: string, kind: EngineKind): Promise<CopySource> {
  checkStore(dataDir, kind);
  const { open } = await import('lmdb');
  const file = FILES[kind];
  // Two processes may open the environment; this one never writes.
  const environment = open({ path: dirname(join(dataDir, file)), readOnly: true, noMemInit: true });
  return {
    lastTransactionId() {
      const { lastTxnId = 0 }: { lastTxnId?: number } = environment.getStats();
      return lastTxnId;
    },
    async copyTo(to) {
      const copy = join(to, file);
      ensurePrivateDirectory(dirname(copy));
      await environment.backup(dirname(copy), true);
      flushFile(copy);
      flushDirectory(dirname(copy));
      return statSync(copy).size;
    },
    close: () => environment.close(),
  };
}

/**
 * Opens a store that no engine has open for copying it byte by byte. Throws `StoreDamaged` if it is missing or of another
 * build. A copy of one that is cut short fails when engines start on it; lmdb would kill this process.
 */
export async function openClosedSource(dataDir: string, kind: EngineKind): Promise<CopySource> {
  checkStores(dataDir);
  return {
    lastTransactionId: () => 0,
    async copyTo(to) {
      const copy = join(to, FILES[kind]);
      ensurePrivateDirectory(dirname(copy));
      await copyFile(join(dataDir, FILES[kind]), copy, constants.COPYFILE_FICLONE);
      chmodSync(copy, 0o600);
      flushFile(copy);
      flushDirectory(dirname(copy));
      return statSync(copy).size;
    },
    async close() {},
  };
}
