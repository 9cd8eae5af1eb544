/** What the columns of fields are called in rows: digests of their paths under the key of the subject. */
import type { Vault } from '../../application/ports.js';
import type { Names } from './sections.js';

/** Enough to tell the paths of a block apart. */
const DIGEST_BYTES = 9;

/** Undefined when the key is destroyed. */
export async function namesOf(vault: Vault, subject: string): Promise<Names | undefined> {
  const digest = await vault.digester(subject, 'logs.column');
  if (!digest) return undefined;
  const name = (kind: string, path: string) =>
    kind + Buffer.from(digest(kind + path).subarray(0, DIGEST_BYTES)).toString('base64url');
  return { scalars: (path) => name('s', path), arrays: (path) => name('a', path) };
}
