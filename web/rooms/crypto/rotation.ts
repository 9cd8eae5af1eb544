/** A new room key, encrypted for each person who shall have it: ECDH P-256 with an ephemeral key, then AES-GCM. */
import { type Bytes, canonical, fromBase64url, toBase64url, wipe } from './bytes.js';
import { decrypt, deriveBytes, encrypt, importCipherKey } from './cipher.js';

const ECDH = { name: 'ECDH', namedCurve: 'P-256' } as const;

/** The room key of a version, for the listed participants only. */
export interface KeyPackage {
  readonly version: number;
  /** Ephemeral public key, uncompressed point as base64url. */
  readonly ephemeral: string;
  readonly keys: { readonly [participantId: string]: { readonly nonce: string; readonly ciphertext: string } };
}

/** The private key cannot be read by scripts. */
export const generateAgreementKeys = (): Promise<CryptoKeyPair> =>
  crypto.subtle.generateKey(ECDH, false, ['deriveBits']);

export const agreementKeyOf = async ({ publicKey }: CryptoKeyPair): Promise<string> =>
  toBase64url(await crypto.subtle.exportKey('raw', publicKey));

const importPublic = async (text: string) => crypto.subtle.importKey('raw', fromBase64url(text), ECDH, true, []);

async function sharedKey(privateKey: CryptoKey, publicKey: CryptoKey, context: Bytes): Promise<CryptoKey> {
  const agreed = new Uint8Array(await crypto.subtle.deriveBits({ name: 'ECDH', public: publicKey }, privateKey, 256));
  const raw = await deriveBytes(agreed, context);
  const key = await importCipherKey(raw);
  wipe(agreed);
  wipe(raw);
  return key;
}

const contextOf = (roomId: string, version: number, recipientId: string, ephemeral: string) =>
  canonical('new room key', roomId, version, recipientId, ephemeral);

/** `recipients` are agreement keys by participant id. Participants with a key off the curve are left out. */
export async function packKey(
  roomId: string,
  version: number,
  roomKey: Bytes,
  recipients: ReadonlyMap<string, string>,
): Promise<KeyPackage> {
  const pair = await generateAgreementKeys();
  const ephemeral = await agreementKeyOf(pair);
  const entries = [...recipients].map(async ([id, agreementKey]) => {
    const publicKey = await importPublic(agreementKey).catch(() => undefined);
    if (!publicKey) return undefined;
    const context = contextOf(roomId, version, id, ephemeral);
    const key = await sharedKey(pair.privateKey, publicKey, context);
    const { nonce, ciphertext } = await encrypt(key, roomKey, context);
    return [id, { nonce: toBase64url(nonce), ciphertext: toBase64url(ciphertext) }] as const;
  });
  const keys = (await Promise.all(entries)).filter((entry) => entry !== undefined);
  return { version, ephemeral, keys: Object.fromEntries(keys) };
}

/** The room key; undefined if the package has none for this participant. Rejects if it was changed. */
export async function unpackKey(
  roomId: string,
  participantId: string,
  { privateKey }: CryptoKeyPair,
  { version, ephemeral, keys }: KeyPackage,
): Promise<Bytes | undefined> {
  const own = Object.hasOwn(keys, participantId) ? keys[participantId] : undefined;
  if (!own) return undefined;
  const context = contextOf(roomId, version, participantId, ephemeral);
  const key = await sharedKey(privateKey, await importPublic(ephemeral), context);
  return decrypt(key, { nonce: fromBase64url(own.nonce), ciphertext: fromBase64url(own.ciphertext) }, context);
}
