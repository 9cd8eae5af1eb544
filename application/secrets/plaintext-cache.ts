/** Plaintext cache: recently decrypted secrets by their ciphertext, because decryption costs more than a lookup. */
import { LRUCache } from 'lru-cache';
import { estimateBytes } from '../concurrency/index.js';

export interface PlaintextCache {
  get(subject: string, sealed: string): object | undefined;
  set(subject: string, sealed: string, secret: object): void;
  delete(sealed: string): void;
  /** Drops all secrets of a subject. */
  forget(subject: string): void;
  bytes(): number;
}

interface Plaintext {
  readonly subject: string;
  readonly secret: object;
}

/** Bytes per entry for the two indexes, and for objects that readers derive from a secret and hold as long. */
const ENTRY_BYTES = 800;

export function createPlaintextCache(limitBytes: number): PlaintextCache {
  const bySubject = new Map<string, Set<string>>();
  const plaintexts = new LRUCache<string, Plaintext>({
    maxSize: limitBytes,
    sizeCalculation: ({ secret }, sealed) => ENTRY_BYTES + estimateBytes(sealed) + estimateBytes(secret),
    dispose({ subject }, sealed) {
      const ciphertexts = bySubject.get(subject);
      ciphertexts?.delete(sealed);
      if (ciphertexts?.size === 0) bySubject.delete(subject);
    },
  });

  return {
    get(subject, sealed) {
      const entry = plaintexts.get(sealed);
      return entry?.subject === subject ? entry.secret : undefined;
    },

    set(subject, sealed, secret) {
      plaintexts.set(sealed, { subject, secret });
      if (!plaintexts.has(sealed)) return;
      const ciphertexts = bySubject.get(subject);
      if (ciphertexts) ciphertexts.add(sealed);
      else bySubject.set(subject, new Set([sealed]));
    },

    delete: (sealed) => void plaintexts.delete(sealed),

    forget(subject) {
      for (const sealed of [...(bySubject.get(subject) ?? [])]) plaintexts.delete(sealed);
    },

    bytes: () => plaintexts.calculatedSize,
  };
}
