/** Secrets that were opened a moment ago, by their sealed text: it never changes, and opening costs more than parsing. */
import { LRUCache } from 'lru-cache';
import { estimateBytes } from '../memory/estimate-size.js';

export interface OpenedSecrets {
  get(subject: string, sealed: string): object | undefined;
  set(subject: string, sealed: string, secret: object): void;
  delete(sealed: string): void;
  /** Drops everything that a subject's key had sealed. */
  forget(subject: string): void;
  bytes(): number;
}

interface Opened {
  readonly subject: string;
  readonly secret: object;
}

/** The two indexes, and what readers make of a secret and keep as long as it is here. */
const ENTRY_BYTES = 800;

export function createPlaintextCache(limitBytes: number): OpenedSecrets {
  const bySubject = new Map<string, Set<string>>();
  const opened = new LRUCache<string, Opened>({
    maxSize: limitBytes,
    sizeCalculation: ({ secret }, sealed) => ENTRY_BYTES + estimateBytes(sealed) + estimateBytes(secret),
    dispose({ subject }, sealed) {
      const its = bySubject.get(subject);
      its?.delete(sealed);
      if (its?.size === 0) bySubject.delete(subject);
    },
  });

  return {
    get(subject, sealed) {
      const seen = opened.get(sealed);
      return seen?.subject === subject ? seen.secret : undefined;
    },

    set(subject, sealed, secret) {
      opened.set(sealed, { subject, secret });
      if (!opened.has(sealed)) return;
      const its = bySubject.get(subject);
      if (its) its.add(sealed);
      else bySubject.set(subject, new Set([sealed]));
    },

    delete: (sealed) => void opened.delete(sealed),

    forget(subject) {
      for (const sealed of [...(bySubject.get(subject) ?? [])]) opened.delete(sealed);
    },

    bytes: () => opened.calculatedSize,
  };
}
