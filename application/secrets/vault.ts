/** Keys of subjects and what they seal: the only way that a secret is ever read (docs/guide/erasure.md). */
import { LRUCache } from 'lru-cache';
import { sliceExpired, yieldToEventLoop } from '../concurrency/index.js';
import { estimateBytes } from '../memory/estimate-size.js';
import { type Cache, type Digester, UndecryptableError, type Vault } from '../ports/index.js';
import { createPlaintextCache } from './plaintext-cache.js';

/** Where keys are kept: outside the log and its backups. */
export interface KeyStore {
  /** The subject's key, made now if it never had one; undefined when it was destroyed. */
  create(subject: string, justSealed: Buffer): Promise<Buffer | undefined>;
  /** The subject's key, made now if it has none. */
  renew(subject: string, justSealed: Buffer): Promise<Buffer | undefined>;
  /** Undefined when it never had one, or this is a backup from before. */
  read(subject: string): Promise<Buffer | 'destroyed' | undefined>;
  /**
   * The subject's key as any replica has it, also while none takes writes. Undefined proves nothing, and a key may have
   * been destroyed or renewed since.
   */
  readReplica?(subject: string): Promise<Buffer | undefined>;
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
  /**
   * Opens what was sealed a moment ago, as the live feed does, while this process hears of every erasure. An election
   * among the key servers does not hold it up: any replica's key will do that opens it, unless `forget` was called for
   * the subject.
   */
  openLive: Vault['open'];
  /** Drops what this process remembers of a subject: its key was destroyed, perhaps by another node. */
  forget(subject: string): void;
  readonly caches: readonly Cache[];
}

/** Subjects of which it is remembered that their key was destroyed: events of long ago are not opened live. */
const ENDED = 10_000;
const KEYS_BYTES = 5 * 1024 * 1024;
/** A key with its buffer, outside the heap, and its place in the cache. */
const KEY_BYTES = 320;
const OPENED_BYTES = 10 * 1024 * 1024;
/**
 * Longer ones are batches, and much larger when opened: as with what is opened but once, only those just sealed are
 * remembered, until then.
 */
const MOST_CACHED_CHARACTERS = 4096;
const FRESH_BYTES = 4 * 1024 * 1024;

/** What is sealed begins with a nonce of its own: enough to tell it from all else. */
const MARK = 18;

/** `keptMs`: a key is remembered so long at most; without it, as long as there is room. */
export function createVault(keys: KeyStore, cipher: Cipher, keyTtlMs?: number): CachingVault {
  const keyCache = new LRUCache<string, Buffer>({
    maxSize: KEYS_BYTES,
    sizeCalculation: (_, subject) => KEY_BYTES + estimateBytes(subject),
    ...(keyTtlMs !== undefined && { ttl: keyTtlMs, ttlAutopurge: true }),
  });
  const opened = createPlaintextCache(OPENED_BYTES);
  const justSealed = createPlaintextCache(FRESH_BYTES);
  const ended = new LRUCache<string, true>({ max: ENDED });
  /** How often a subject was forgotten: a key that was asked for before that is not remembered after it. */
  let forgotten = 0;

  /** In memory of its own: what a driver hands out may be a few bytes of a large buffer. */
  const cacheKey = (subject: string, key: Buffer) => {
    const own = Buffer.alloc(key.length);
    key.copy(own);
    keyCache.set(subject, own);
  };

  /** Reads of keys under way: who asks for the same one meanwhile is told the same. */
  const reading = new Map<string, ReturnType<KeyStore['read']>>();

  const readKey = async (subject: string) => {
    const before = forgotten;
    const key = await keys.read(subject);
    if (key && key !== 'destroyed' && forgotten === before) cacheKey(subject, key);
    return key;
  };

  const keyOf = (subject: string) => {
    const underWay = reading.get(subject);
    if (underWay) return underWay;
    const asked = readKey(subject).finally(() => {
      if (reading.get(subject) === asked) reading.delete(subject);
    });
    reading.set(subject, asked);
    return asked;
  };

  const currentKey = async (subject: string) => {
    const key = keyCache.get(subject) ?? (await keyOf(subject));
    return key === 'destroyed' ? undefined : key;
  };

  /** What was sealed had a key: that there is none is not the same as its end. */
  async function withKey<T>(subject: string, sealed: string | Uint8Array, open: (key: Buffer) => T) {
    const key = keyCache.get(subject) ?? (await keyOf(subject));
    if (key === 'destroyed') return undefined;
    try {
      if (!key) throw new Error('its key is missing');
      return open(key);
    } catch (cause) {
      throw new UndecryptableError(subject, Buffer.from(sealed.slice(0, MARK)).toString('base64'), { cause });
    }
  }

  const isOpenedOften = (text: string, once?: boolean) => !once && text.length <= MOST_CACHED_CHARACTERS;

  const open = (subject: string, sealed: string) => withKey(subject, sealed, (key) => cipher.open(key, sealed));

  /** Undefined where a replica's key does not open it; then the key of `read` decides. */
  async function openByReplica(subject: string, sealed: string): Promise<string | undefined> {
    if (keyCache.has(subject) || ended.has(subject)) return undefined;
    const before = forgotten;
    try {
      const key = await keys.readReplica?.(subject);
      if (!key) return undefined;
      const text = cipher.open(key, sealed);
      if (ended.has(subject)) return undefined;
      if (forgotten === before) cacheKey(subject, key);
      return text;
    } catch {
      return undefined;
    }
  }

  const forget = (subject: string) => {
    forgotten++;
    ended.set(subject, true);
    keyCache.delete(subject);
    reading.delete(subject);
    opened.forget(subject);
    justSealed.forget(subject);
  };

  const make = (how: 'create' | 'renew') => async (subject: string) => {
    if (keyCache.has(subject)) return;
    const before = forgotten;
    const key = await keys[how](subject, cipher.newKey());
    if (key && forgotten === before) cacheKey(subject, key);
  };

  async function openText(subject: string, sealed: string, openSealed: typeof open, once?: boolean) {
    const seen = opened.get(subject, sealed) ?? justSealed.get(subject, sealed);
    justSealed.delete(sealed);
    if (seen && (keyCache.get(subject) ?? (await currentKey(subject)))) return seen;
    const text = await openSealed(subject, sealed);
    if (text === undefined) return undefined;
    const secret: object = JSON.parse(text);
    if (keyCache.has(subject) && isOpenedOften(text, once)) opened.set(subject, sealed, secret);
    return secret;
  }

  return {
    create: make('create'),
    renew: make('renew'),

    async destroy(subject) {
      forget(subject);
      await keys.destroy(subject);
      forget(subject);
    },

    async seal(subject, secret, once) {
      const text = JSON.stringify(secret);
      const key = keyCache.get(subject) ?? (await currentKey(subject));
      if (!key) return undefined;
      const sealed = cipher.seal(key, text);
      // What was sealed here is about to be read here: by the live feed, and then by people.
      if (keyCache.has(subject)) (isOpenedOften(text, once) ? opened : justSealed).set(subject, sealed, secret);
      return sealed;
    },

    open: (subject, sealed, once) => openText(subject, sealed, open, once),

    openLive: (subject, sealed, once) =>
      openText(subject, sealed, async () => (await openByReplica(subject, sealed)) ?? open(subject, sealed), once),

    // Nothing of it is remembered: what is read in such numbers would push out all that is read often.
    async openMany(subject, sealed) {
      const secrets: (object | undefined)[] = [];
      for (const each of sealed) {
        if (sliceExpired()) await yieldToEventLoop();
        const seen = keyCache.has(subject) ? opened.get(subject, each) : undefined;
        const text = seen ? undefined : await open(subject, each);
        secrets.push(seen ?? (text === undefined ? undefined : JSON.parse(text)));
      }
      return secrets;
    },

    async sealBytes(subject, bytes) {
      const key = await currentKey(subject);
      return key && cipher.sealBytes(key, bytes);
    },

    openBytes: (subject, sealed) => withKey(subject, sealed, (key) => cipher.openBytes(key, sealed)),

    async digester(subject, purpose) {
      const key = await currentKey(subject);
      return key && cipher.digester(key, purpose);
    },

    forget,

    caches: [
      { name: 'keys', limitBytes: KEYS_BYTES, bytes: () => keyCache.calculatedSize },
      { name: 'secrets', limitBytes: OPENED_BYTES, bytes: opened.bytes },
      { name: 'fresh-secrets', limitBytes: FRESH_BYTES, bytes: justSealed.bytes },
    ],
  };
}
