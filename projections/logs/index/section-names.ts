/** Names of field columns in rows: digests of paths under the subject's key. */
import type { Vault } from '../../../application/ports/index.js';
import type { Names } from './sections.js';

/** Hexadecimal digits; enough to avoid collisions within a block. */
const DIGEST_DIGITS = 18;

/** Undefined when the key is destroyed. */
export async function createSectionNames(vault: Vault, subject: string): Promise<Names | undefined> {
  const digest = await vault.digester(subject, 'logs.column');
  if (!digest) return undefined;
  const name = (kind: string, path: string) => kind + digest(kind + path).slice(0, DIGEST_DIGITS);
  return { scalars: (path) => name('s', path), arrays: (path) => name('a', path) };
}
