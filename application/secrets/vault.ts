/** Key vault: encrypts and decrypts secrets with the key of their subject (docs/guide/erasure.md). */
import { LRUCache } from 'lru-cache';
import { createSingleFlight, estimateBytes, sliceExpired, yieldToEventLoop } from '../concurrency/index.js';
import { type Cache, type Digester, UndecryptableError, type Vault } from '../ports/index.js';

/** Key storage, outside the event log and its backups. */
export interface KeyStore {
  /** Returns the subject's key, storing `newKey` if it never had one; undefined if it was destroyed. */
  create(subject: string, newKey: Buffer): Promise<Buffer | undefined>;
  /** Returns the subject's key, storing `newKey` if it has none or it was destroyed. */
  renew(subject: string, newKey: Buffer): Promise<Buffer | undefined>;
  /** Returns undefined if the subject never had a key, or the storage was restored from an older backup. */
  read(subject: string): Promise<Buffer | 'destroyed' | undefined>;
  /**
   * Reads a key from any replica, also without a primary. The result may be stale: a key may be missing, or have been
   * destroyed or renewed since.
   */
  readReplica?(subject: string): Promise<Buffer | undefined>;
  destroy(subject: string): Promise<void>;
}

/** Authenticated encryption of a text under a 256-bit key. */
export interface Cipher {
  newKey(): Buffer;
  seal(key: Buffer, text: string): string;
  /** Throws if the text is forged, damaged or encrypted with another key. */
  open(key: Buffer, sealed: string): string;
  sealBytes(key: Buffer, bytes: Uint8Array): Uint8Array;
  openBytes(key: Buffer, sealed: Uint8Array): Uint8Array;
  /** Creates a keyed digest function, with a key derived for the purpose. */
  digester(key: Buffer, purpose: string): Digester;
}

export interface CachingVault extends Vault {
  /**
   * Decrypts recent secrets for the live feed, which observes every erasure. Accepts a key from any replica, so that an
   * election of the key servers causes no delay, unless `forget` was called for the subject.
   */
  openLive: Vault['open'];
  /** Drops all cached data of a subject, because its key was destroyed, perhaps by another node. */
  forget(subject: string): void;
  readonly caches: readonly Cache[];
}

/** Subjects remembered as destroyed; enough, as `openLive` is not used for old events. */
const MAX_DESTROYED = 10_000;
const KEYS_BYTES = 5 * 1024 * 1024;
/** Bytes of a cached key with its buffer and its cache entry. */
const KEY_BYTES = 320;
const PLAINTEXT_BYTES = 10 * 1024 * 1024;
/**
 * Longest plaintext that stays cached. Longer ones are batches, much larger once parsed; like secrets that are read
 * only once, they are cached from encryption until their first read.
 */
const MAX_CACHED_CHARACTERS = 4096;
const JUST_SEALED_BYTES = 4 * 1024 * 1024;

/** Characters or bytes that identify a ciphertext: it starts with a unique nonce. */
const ID_LENGTH = 18;

/** @param keyTtlMs Milliseconds a key stays cached; default: until it is evicted. */
export function createVault(keys: KeyStore, cipher: Cipher, keyTtlMs?: number): CachingVault {
  const keyCache = new LRUCache<string, Buffer>({
    maxSize: KEYS_BYTES,
    sizeCalculation: (_, subject) => KEY_BYTES + estimateBytes(subject),
    ...(keyTtlMs !== undefined && { ttl: keyTtlMs, ttlAutopurge: true }),
  });
  const plaintexts = createPlaintextCache(PLAINTEXT_BYTES);
  const justSealed = createPlaintextCache(JUST_SEALED_BYTES);
  const destroyed = new LRUCache<string, true>({ max: MAX_DESTROYED });
  /** Number of `forget` calls: a key requested before one is not cached after it. */
  let forgetCount = 0;

  /** Caches a copy: a buffer from the driver may be a few bytes of a large one. */
  const cacheKey = (subject: string, key: Buffer) => void keyCache.set(subject, Buffer.alloc(key.length, key));

  const singleFlight = createSingleFlight();

  /** Reads a key, once for concurrent callers; never shares a read that began before a `forget`. */
  const readKey = (subject: string) =>
    singleFlight(`${forgetCount} ${subject}`, async () => {
      const before = forgetCount;
      const key = await keys.read(subject);
      if (key && key !== 'destroyed' && forgetCount === before) cacheKey(subject, key);
      return key;
    });

  const keyOf = async (subject: string) => keyCache.get(subject) ?? (await readKey(subject));

  const currentKey = async (subject: string) => {
    const key = await keyOf(subject);
    return key === 'destroyed' ? undefined : key;
  };

  /**
   * Runs `open` with the key of a ciphertext; undefined if the key is destroyed. A missing key is an error: there was
   * one.
   */
  function openWith<T>(
    key: Awaited<ReturnType<typeof keyOf>>,
    subject: string,
    sealed: string | Uint8Array,
    open: (key: Buffer) => T,
  ): T | undefined {
    if (key === 'destroyed') return undefined;
    try {
      if (!key) throw new Error('the key is missing');
      return open(key);
    } catch (cause) {
      throw new UndecryptableError(subject, Buffer.from(sealed.slice(0, ID_LENGTH)).toString('base64'), { cause });
    }
  }

  const isCacheable = (text: string, once?: boolean) => !once && text.length <= MAX_CACHED_CHARACTERS;

  const open = async (subject: string, sealed: string) =>
    openWith(await keyOf(subject), subject, sealed, (key) => cipher.open(key, sealed));

  /** Decrypts with a replica's key; undefined if that fails, and the primary must be read. */
  async function openByReplica(subject: string, sealed: string): Promise<string | undefined> {
    if (keyCache.has(subject) || destroyed.has(subject)) return undefined;
    const before = forgetCount;
    try {
      const key = await keys.readReplica?.(subject);
      if (!key) return undefined;
      const text = cipher.open(key, sealed);
      if (destroyed.has(subject)) return undefined;
      if (forgetCount === before) cacheKey(subject, key);
      return text;
    } catch {
      return undefined;
    }
  }

  const forget = (subject: string) => {
    forgetCount++;
    destroyed.set(subject, true);
    keyCache.delete(subject);
    plaintexts.forget(subject);
    justSealed.forget(subject);
  };

  const storeKey = (how: 'create' | 'renew') => async (subject: string) => {
    if (keyCache.has(subject)) return;
    const before = forgetCount;
    const key = await keys[how](subject, cipher.newKey());
    if (key && forgetCount === before) cacheKey(subject, key);
  };

  async function openText(subject: string, sealed: string, openSealed: typeof open, once?: boolean) {
    const cached = plaintexts.get(subject, sealed) ?? justSealed.get(subject, sealed);
    justSealed.delete(sealed);
    if (cached && (await currentKey(subject))) return cached;
    const text = await openSealed(subject, sealed);
    if (text === undefined) return undefined;
    const secret: object = JSON.parse(text);
    if (keyCache.has(subject) && isCacheable(text, once)) plaintexts.set(subject, sealed, secret);
    return secret;
  }

  return {
    create: storeKey('create'),
    renew: storeKey('renew'),

    async destroy(subject) {
      forget(subject);
      await keys.destroy(subject);
      forget(subject);
    },

    async seal(subject, secret, once) {
      const text = JSON.stringify(secret);
      const key = await currentKey(subject);
      if (!key) return undefined;
      const sealed = cipher.seal(key, text);
      // It will soon be read by the live feed, and then by people.
      if (keyCache.has(subject)) (isCacheable(text, once) ? plaintexts : justSealed).set(subject, sealed, secret);
      return sealed;
    },

    open: (subject, sealed, once) => openText(subject, sealed, open, once),

    openLive: (subject, sealed, once) =>
      openText(subject, sealed, async () => (await openByReplica(subject, sealed)) ?? open(subject, sealed), once),

    // Caches nothing: reads in such numbers would evict everything that is read often.
    async openMany(subject, sealed) {
      const secrets: (object | undefined)[] = [];
      if (sealed.length === 0) return secrets;
      let key = await keyOf(subject);
      for (const each of sealed) {
        if (sliceExpired()) {
          await yieldToEventLoop();
          // It may have been destroyed meanwhile.
          key = await keyOf(subject);
        }
        const cached = keyCache.has(subject) ? plaintexts.get(subject, each) : undefined;
        const text = cached ? undefined : openWith(key, subject, each, (known) => cipher.open(known, each));
        secrets.push(cached ?? (text === undefined ? undefined : JSON.parse(text)));
      }
      return secrets;
    },

    async sealBytes(subject, bytes) {
      const key = await currentKey(subject);
      return key && cipher.sealBytes(key, bytes);
    },

    openBytes: async (subject, sealed) =>
      openWith(await keyOf(subject), subject, sealed, (key) => cipher.openBytes(key, sealed)),

    async digester(subject, purpose) {
      const key = await currentKey(subject);
      return key && cipher.digester(key, purpose);
    },

    forget,

    caches: [
      { name: 'keys', limitBytes: KEYS_BYTES, bytes: () => keyCache.calculatedSize },
      { name: 'secrets', limitBytes: PLAINTEXT_BYTES, bytes: plaintexts.bytes },
      { name: 'fresh-secrets', limitBytes: JUST_SEALED_BYTES, bytes: justSealed.bytes },
    ],
  };
}

interface Plaintext {
  readonly subject: string;
  readonly secret: object;
}

/** Bytes per entry for the two indexes, and for objects that readers derive from a secret and hold as long. */
const ENTRY_BYTES = 800;

/** Caches recently decrypted secrets by their ciphertext, because decryption costs more than a lookup. */
export function createPlaintextCache(limitBytes: number) {
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
    get(subject: string, sealed: string): object | undefined {
      const entry = plaintexts.get(sealed);
      return entry?.subject === subject ? entry.secret : undefined;
    },

    set(subject: string, sealed: string, secret: object): void {
      plaintexts.set(sealed, { subject, secret });
      if (!plaintexts.has(sealed)) return;
      const ciphertexts = bySubject.get(subject);
      if (ciphertexts) ciphertexts.add(sealed);
      else bySubject.set(subject, new Set([sealed]));
    },

    delete: (sealed: string): void => void plaintexts.delete(sealed),

    /** Drops all secrets of a subject. */
    forget(subject: string): void {
      for (const sealed of [...(bySubject.get(subject) ?? [])]) plaintexts.delete(sealed);
    },

    bytes: (): number => plaintexts.calculatedSize,
  };
}
