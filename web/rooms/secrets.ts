/** What a device must keep secret for a room, encrypted at rest. */
import { decrypt, encrypt, fromBase64url, fromUtf8, type Sealed, toBase64url, utf8 } from './crypto/protocol.js';
import { draftStorage, exclusively, type RoomRecord, rooms } from './store.js';

/** An invite link that this device made. */
export interface IssuedInvite {
  /** Digest of its token, which who joins by it repeats in their introduction. */
  readonly digest: string;
  readonly label: string;
  readonly at: number;
  readonly keyVersion: number;
}

export interface RoomSecrets {
  readonly token: string;
  readonly name: string;
  readonly title: string;
  /** Base64url by version. */
  readonly roomKeys: { readonly [version: string]: string };
  /** Digest of the token that this participant joined by. */
  readonly invite?: string;
  readonly issued: readonly IssuedInvite[];
  /** Digest of the verified signing key by participant. */
  readonly verified: { readonly [participantId: string]: string };
  /** Digest of the signing key that the service listed first, or that was compared since, by participant. */
  readonly seen?: { readonly [participantId: string]: string };
}

const contextOf = (purpose: string, roomId: string) => utf8(`annals-rooms local ${purpose} ${roomId}`);

export const sealSecrets = (localKey: CryptoKey, roomId: string, secrets: RoomSecrets): Promise<Sealed> =>
  encrypt(localKey, utf8(JSON.stringify(secrets)), contextOf('secrets', roomId));

export async function openSecrets({ localKey, roomId, secrets }: RoomRecord): Promise<RoomSecrets> {
  return JSON.parse(fromUtf8(await decrypt(localKey, secrets, contextOf('secrets', roomId)))) as RoomSecrets;
}

/** Changes the stored secrets of a room; undefined if the room was forgotten. */
export const updateSecrets = (
  roomId: string,
  change: (secrets: RoomSecrets) => RoomSecrets,
): Promise<RoomSecrets | undefined> =>
  exclusively(`secrets-${roomId}`, async () => {
    const record = await rooms.get(roomId);
    if (!record) return undefined;
    const changed = change(await openSecrets(record));
    await rooms.put({ ...record, secrets: await sealSecrets(record.localKey, roomId, changed) });
    return changed;
  });

export async function saveDraft(localKey: CryptoKey, roomId: string, text: string): Promise<void> {
  if (text === '') return void draftStorage.remove(roomId);
  const { nonce, ciphertext } = await encrypt(localKey, utf8(text), contextOf('draft', roomId));
  draftStorage.set(roomId, `${toBase64url(nonce)}.${toBase64url(ciphertext)}`);
}

export async function loadDraft(localKey: CryptoKey, roomId: string): Promise<string> {
  const [nonce, ciphertext] = draftStorage.get(roomId)?.split('.') ?? [];
  if (!nonce || !ciphertext) return '';
  const sealed = { nonce: fromBase64url(nonce), ciphertext: fromBase64url(ciphertext) };
  return decrypt(localKey, sealed, contextOf('draft', roomId)).then(fromUtf8, () => '');
}
