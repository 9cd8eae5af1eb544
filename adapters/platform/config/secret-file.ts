/** Stores the secret of an installation in a file, created at the first start if none is configured. */
import { readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { createPrivateFile, flushDirectory, writePrivateFile } from '@annals/engines';
import type { StoredSecret } from '../../crypto/wrapping.js';

export function secretFile(path: string): StoredSecret {
  const read = async () => {
    try {
      return readFileSync(path, 'utf8').trim();
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw error;
    }
  };
  return {
    read,
    async storeIfAbsent(secret) {
      createPrivateFile(path, `${secret}\n`);
      return (await read()) ?? secret;
    },
    replace: async (secret) => writePrivateFile(path, `${secret}\n`),
    async remove() {
      rmSync(path, { force: true });
      flushDirectory(dirname(path));
    },
  };
}
