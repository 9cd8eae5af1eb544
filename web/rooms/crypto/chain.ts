/**
 * A sender's chain: a key for each message, each derived one-way from the one before. A chain key opens its message and
 * the later ones of its chain, none before. A page begins a new chain each time it loads and after each new room key.
 */
import { type Bytes, canonical, randomBytes, toBase64url, wipe } from './bytes.js';
import { deriveBytes, importCipherKey, KEY_BYTES } from './cipher.js';

const CHAIN_ID_BYTES = 16;

export interface ChainStep {
  readonly chainId: string;
  readonly messageIndex: number;
  /** Encrypts this message, and derives the keys of the later ones. */
  readonly chainKey: Bytes;
}

export const startChain = (): ChainStep => ({
  chainId: toBase64url(randomBytes(CHAIN_ID_BYTES)),
  messageIndex: 0,
  chainKey: randomBytes(KEY_BYTES),
});

/** The next step; the key of this one is overwritten. */
export async function advanceChain({ chainId, messageIndex, chainKey }: ChainStep): Promise<ChainStep> {
  const next = await deriveBytes(chainKey, canonical('next chain key', chainId, messageIndex));
  wipe(chainKey);
  return { chainId, messageIndex: messageIndex + 1, chainKey: next };
}

export async function messageKeyOf({ chainId, messageIndex, chainKey }: ChainStep): Promise<CryptoKey> {
  const raw = await deriveBytes(chainKey, canonical('message key', chainId, messageIndex));
  const key = await importCipherKey(raw);
  wipe(raw);
  return key;
}
