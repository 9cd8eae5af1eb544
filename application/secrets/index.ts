/** Encryption of personal data: the key vault and decryption of events. */
export { asErasedEvent, countUndecryptable, createEventDecryptor, treatAsErased } from './decrypt-events.js';
export { createDayKeyExpiry, DAY_KEYS_EVERY_MS } from './expire-day-keys.js';
export { type CachingVault, type Cipher, createVault, type KeyStore } from './vault.js';
