/** Encryption of personal data: the key vault, decryption of events, encrypted files. */
export { asErasedEvent, createEventDecryptor, createUndecryptableCounter, treatAsErased } from './decrypt-events.js';
export {
  createSealedFiles,
  type IncomingBlob,
  keyOf,
  keyText,
  type Receiving,
  type SealedFiles,
} from './encrypted-blobs.js';
export { createDayKeyExpiry, DAY_KEY_EXPIRY_EVERY_MS } from './expire-day-keys.js';
export { type CachingVault, type Cipher, createVault, type KeyStore } from './vault.js';
