/**
 * The protocol of encrypted rooms, version 1. WebCrypto only; these modules know neither the page nor the service.
 *
 * Keys
 * - Each participant has an ECDSA P-256 key, which the service lists, and an ECDH P-256 key, which travels encrypted. Both
 *   are made in the browser and cannot be read by scripts.
 * - The room key of version 1 is made by who creates the room. It is in invite links, behind `#`, which browsers do not send.
 * - A chain key per message: random at the start of a chain, then HKDF of the one before. A chain ends with its page.
 *
 * A message: the chain key of its step, encrypted under the room key; the padded content, encrypted under a key derived
 * from the chain key; and a signature over both, room, sender, key version, chain and index (AES-256-GCM, HKDF-SHA-256,
 * ECDSA-SHA-256). Receivers verify the signature first, then decrypt, then check the place in the chain.
 *
 * A rotation sends a new room key, encrypted for each remaining participant, as a message under the old key. The first
 * one for a version counts, in the service's order.
 *
 * What holds
 * - The service cannot read messages, names or files, forge a message of a participant, or move it to another room, sender
 *   or place. Replayed and missing messages of a chain are noticed.
 * - A chain key that leaks opens the rest of its chain, no earlier message.
 * - After a rotation, older links and those left out cannot read new messages.
 *
 * What does not hold
 * - The room key opens all messages of its version that are still stored: there is no forward secrecy against it, and none
 *   after a compromise until a rotation. Burning destroys them at the service.
 * - Who knows a device's keys can act as that participant. People who are in can copy what they read.
 * - The service sees who posts when and about how much, may withhold the newest messages, and may show messages of
 *   different senders in different orders.
 * - Whoever serves this page could serve another script. Fingerprints detect exchanged keys, not an exchanged page; without
 *   comparing them, only an exchange after a device has first seen a key is noticed.
 * - The page takes an invite link out of the address once it is used; the browser may list it among visited pages.
 */
export { type Bytes, fromBase64url, fromUtf8, randomBytes, toBase64url, utf8, wipe } from './bytes.js';
export { advanceChain, type ChainStep, startChain } from './chain.js';
export { decrypt, encrypt, generateCipherKey, KEY_BYTES, type Sealed, sha256 } from './cipher.js';
export {
  type Envelope,
  EnvelopeError,
  type EnvelopeFault,
  importRoomKey,
  open,
  type RoomKey,
  seal,
} from './envelope.js';
export { maxContent } from './padding.js';
export { agreementKeyOf, generateAgreementKeys, type KeyPackage, packKey, unpackKey } from './rotation.js';
export { createSequence, type Sequence } from './sequence.js';
export {
  fingerprintOf,
  generateSigningKeys,
  importVerifyingKey,
  type PublicKey,
  publicKeyOf,
} from './signing.js';
