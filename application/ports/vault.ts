/** Encryption keys of subjects, and values derived from the key of the installation. */
import type { Catalog, DomainEvent } from '../../domain/shared/index.js';
import type { RecordedEvent, RevealedEvent } from './event-log.js';

/** The keys of the subjects, outside the log. A destroyed key never comes back, nor another one unless it is renewed. */
export interface Vault {
  /** Makes the subject's key if it never had one. Rejects with `Unavailable` where it has one that is damaged. */
  create(subject: string): Promise<void>;
  /** Also where it was destroyed, another one: for what a wrong clock may have ended, and what is to come. */
  renew(subject: string): Promise<void>;
  /** Destroys the subject's key for ever: whatever it sealed is gone. Doing it again is fine. */
  destroy(subject: string): Promise<void>;
  /**
   * Encrypts JSON under the subject's key; undefined when the key is destroyed (or was never made). `once`: it will be
   * opened but once here, if at all, and need not be remembered after that.
   */
  seal(subject: string, secret: object, once?: boolean): Promise<string | undefined>;
  /**
   * Opens what `seal` made; undefined when the key is destroyed. Rejects with `Unopenable` where trying again will
   * not help: the text is damaged or sealed under another key, or its key was lost. `once`: as for `seal`.
   */
  open(subject: string, sealed: string, once?: boolean): Promise<object | undefined>;
  /** The same of many, in turns; rejects with `Unopenable` if one of them is. */
  openMany(subject: string, sealed: readonly string[]): Promise<readonly (object | undefined)[]>;
  /** The same for bytes, as they are: nothing is compressed, written as text or remembered. */
  sealBytes(subject: string, bytes: Uint8Array): Promise<Uint8Array | undefined>;
  openBytes(subject: string, sealed: Uint8Array): Promise<Uint8Array | undefined>;
  /**
   * Digests by which rows are found again: nobody can make or check one without the subject's key. Another
   * purpose gives others. Undefined when the key is destroyed.
   */
  digester(subject: string, purpose: string): Promise<Digester | undefined>;
}

/** 64 hexadecimal digits for a text, always the same. */
export type Digester = (text: string) => string;

/** Opens the secrets of recorded events by their catalog. */
export type DecryptEvent = <E extends DomainEvent>(
  catalog: Catalog,
  event: RecordedEvent<E>,
) => Promise<RevealedEvent<E>>;

/** Values that look random to everyone without the installation's own key, and come out the same again for the
 * same parts: that is how a repeated command finds what its first run made. */
export interface Derivation {
  /** 32 bytes for a purpose and its parts. */
  secret(purpose: string, ...parts: readonly string[]): Buffer;
  /** A URL-safe identifier of 128 bits. */
  id(purpose: string, ...parts: readonly string[]): string;
  /**
   * The same of what a command makes: 96 bits behind the time of the command, where its id tells that, so that what is
   * made later comes behind it in stores. All 128 where it does not.
   */
  idInTime(purpose: string, commandId: string): string;
}
