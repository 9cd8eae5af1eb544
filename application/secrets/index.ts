/** Encryption of personal data: the key vault and decryption of events. */
export { asErasedEvent, createEventDecryptor, createUndecryptableCounter, treatAsErased } from './decrypt-events.js';
export { createDayKeyExpiry, DAY_KEY_EXPIRY_EVERY_MS } from './expire-day-keys.js';
export { type CachingVault, type Cipher, createVault, type KeyStore } from './vault.js';
