/** What the columns of fields are called in rows: digests of their paths under the key of the subject. */
import type { Vault } from '../../../application/ports/index.js';
import type { Names } from './sections.js';

/** Hexadecimal: enough to tell the paths of a block apart. */
const DIGEST_DIGITS = 18;

/** Undefined when the key is destroyed. */
export async function namesOf(vault: Vault, subject: string): Promise<Names | undefined> {
  const digest = await vault.digester(subject, 'logs.column');
  if (!digest) return undefined;
  const name = (kind: string, path: string) => kind + digest(kind + path).slice(0, DIGEST_DIGITS);
  return { scalars: (path) => name('s', path), arrays: (path) => name('a', path) };
}
