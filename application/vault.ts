/** Keys of subjects and what they seal: the only way a secret in the log or in a row is ever read. */
import { LRUCache } from 'lru-cache';
import type { Digester, Vault } from './ports.js';

/** Where keys are kept: outside the log and its backups. */
export interface KeyStore {
  /** The subject's key, made now if it never had one; undefined when it was destroyed. */
  create(subject: string, fresh: Buffer): Promise<Buffer | undefined>;
  read(subject: string): Promise<Buffer | undefined>;
  destroy(subject: string): Promise<void>;
}

/** Authenticated encryption of a text under a 256-bit key. */
export interface Cipher {
  newKey(): Buffer;
  seal(key: Buffer, text: string): string;
  /** Throws when the text is forged, damaged or sealed under another key. */
  open(key: Buffer, sealed: string): string;
  sealBytes(key: Buffer, bytes: Uint8Array): Uint8Array;
  openBytes(key: Buffer, sealed: Uint8Array): Uint8Array;
  /** Keyed digests, under a key that is derived for the purpose. */
  digester(key: Buffer, purpose: string): Digester;
}

export interface CachingVault extends Vault {
  /** Drops what this process remembers of a subject: its key was destroyed, perhaps by another node. */
  forget(subject: string): void;
}

const KEYS_CACHED = 50_000;
/** Opened secrets are remembered by their sealed text: it never changes, and opening costs more than parsing. */
const OPENED_CACHED_CHARACTERS = 32 * 1024 * 1024;
/** Longer ones are batches, and much larger when opened: only those just sealed are remembered, until read once. */
const MOST_CACHED_CHARACTERS = 4096;
const FRESH_CHARACTERS = 4 * 1024 * 1024;

interface Opened {
  readonly subject: string;
  readonly secret: object;
}

export function createVault(keys: KeyStore, cipher: Cipher): CachingVault {
  const known = new LRUCache<string, Buffer>({ max: KEYS_CACHED });
  const fresh = new LRUCache<string, Opened>({ maxSize: FRESH_CHARACTERS });
  const opened = new LRUCache<string, Opened>({ maxSize: OPENED_CACHED_CHARACTERS });

  const keyOf = async (subject: string) => {
    const key = await keys.read(subject);
    if (key) known.set(subject, key);
    return key;
  };

  const currentKey = async (subject: string) => known.get(subject) ?? (await keyOf(subject));

  const remember = (sealed: string, entry: Opened, text: string) =>
    (text.length <= MOST_CACHED_CHARACTERS ? opened : fresh).set(sealed, entry, {
      size: sealed.length + text.length,
    });

  const seal = async (subject: string, text: string) => {
    const key = await currentKey(subject);
    return key && cipher.seal(key, text);
  };

  const open = async (subject: string, sealed: string) => {
    const key = await currentKey(subject);
    return key && cipher.open(key, sealed);
  };

  const forget = (subject: string) => {
    known.delete(subject);
    for (const cache of [opened, fresh])
      for (const [sealed, entry] of cache.entries()) if (entry.subject === subject) cache.delete(sealed);
  };

  return {
    async create(subject) {
      if (known.has(subject)) return;
      const key = await keys.create(subject, cipher.newKey());
      if (key) known.set(subject, key);
    },

    async destroy(subject) {
      forget(subject);
      await keys.destroy(subject);
      forget(subject);
    },

    async seal(subject, secret) {
      const text = JSON.stringify(secret);
      const sealed = await seal(subject, text);
      // What was sealed here is about to be read here: by the live feed, and then by people.
      if (sealed !== undefined) remember(sealed, { subject, secret }, text);
      return sealed;
    },

    async open(subject, sealed) {
      const seen = opened.get(sealed) ?? fresh.get(sealed);
      fresh.delete(sealed);
      if (seen?.subject === subject && (await currentKey(subject))) return seen.secret;
      const text = await open(subject, sealed);
      if (text === undefined) return undefined;
      const secret: object = JSON.parse(text);
      if (text.length <= MOST_CACHED_CHARACTERS) remember(sealed, { subject, secret }, text);
      return secret;
    },

    sealText: seal,
    openText: open,

    async sealBytes(subject, bytes) {
      const key = await currentKey(subject);
      return key && cipher.sealBytes(key, bytes);
    },

    async openBytes(subject, sealed) {
      const key = await currentKey(subject);
      return key && cipher.openBytes(key, sealed);
    },

    async digester(subject, purpose) {
      const key = await currentKey(subject);
      return key && cipher.digester(key, purpose);
    },

    forget,
  };
}
