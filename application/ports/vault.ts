/** Ports for encryption with subject keys, and for values derived from the installation's key. */
import type { Catalog, DomainEvent } from '../../domain/shared/index.js';
import type { RecordedEvent, RevealedEvent } from './event-log.js';

/** Encrypts data per subject. A destroyed key is never restored, nor replaced unless `renew` is called. */
export interface Vault {
  /** Creates the subject's key if it never had one. Throws `UnavailableError` if its key is damaged. */
  create(subject: string): Promise<void>;
  /** As `create`, but replaces a destroyed key, which a wrong clock may have expired too early. */
  renew(subject: string): Promise<void>;
  /** Destroys the subject's key, which makes everything encrypted with it unreadable. Idempotent. */
  destroy(subject: string): Promise<void>;
  /**
   * Encrypts JSON with the subject's key; undefined if there is no key. `once`: this process will decrypt it at most
   * once, so that it need not stay cached.
   */
  seal(subject: string, secret: object, once?: boolean): Promise<string | undefined>;
  /**
   * Decrypts the result of `seal`; undefined if the key is destroyed. Throws `UndecryptableError` if retrying is
   * useless: the text is damaged or encrypted with another key, or its key was lost. `once`: as for `seal`.
   */
  open(subject: string, sealed: string, once?: boolean): Promise<object | undefined>;
  /** Decrypts many, yielding to the event loop; throws `UndecryptableError` if one of them fails. */
  openMany(subject: string, sealed: readonly string[]): Promise<readonly (object | undefined)[]>;
  /** Encrypts bytes without compression, text encoding or caching. */
  sealBytes(subject: string, bytes: Uint8Array): Promise<Uint8Array | undefined>;
  openBytes(subject: string, sealed: Uint8Array): Promise<Uint8Array | undefined>;
  /**
   * Returns a digest function for looking up rows: its digests cannot be computed without the subject's key, and differ
   * by purpose. Undefined if the key is destroyed.
   */
  digester(subject: string, purpose: string): Promise<Digester | undefined>;
}

/** Returns 64 hexadecimal digits; deterministic. */
export type Digester = (text: string) => string;

/** Decrypts the secret of a recorded event as its catalog defines. */
export type DecryptEvent = <E extends DomainEvent>(
  catalog: Catalog,
  event: RecordedEvent<E>,
) => Promise<RevealedEvent<E>>;

/**
 * Derives values from the installation's key: random without that key, and equal for equal parts, so that a repeated
 * command derives the same ids and secrets.
 */
export interface Derivation {
  /** Derives 32 bytes. */
  secret(purpose: string, ...parts: readonly string[]): Buffer;
  /** Derives a URL-safe identifier of 128 bits. */
  id(purpose: string, ...parts: readonly string[]): string;
  /**
   * Derives the identifier of something a command creates: the command's time, then 96 bits, so that new rows are neighbours in
   * an index. Never sort by it.
   * 128 derived bits if the command id has no time.
   */
  idInTime(purpose: string, commandId: string): string;
}
