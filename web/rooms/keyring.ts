/** The keys of this device for one room: those of each version, and the chain that this tab encrypts with. */
import { signal } from '@preact/signals';
import {
  advanceChain,
  type Bytes,
  type Envelope,
  fromBase64url,
  importRoomKey,
  type KeyPackage,
  type RoomKey,
  seal,
  startChain,
  toBase64url,
  unpackKey,
  wipe,
} from './crypto/protocol.js';
import { openSecrets, type RoomSecrets, updateSecrets } from './secrets.js';
import { type RoomRecord, rooms } from './store.js';

const NO_SECRETS: RoomSecrets = { token: '', name: '', title: '', roomKeys: {}, issued: [], verified: {} };

export type Keyring = Awaited<ReturnType<typeof openKeyring>>;

export async function openKeyring(record: RoomRecord) {
  const { roomId, participantId, signing, agreement } = record;
  const secrets = signal<RoomSecrets>(await openSecrets(record));
  const roomKeys = new Map<number, RoomKey>();
  /** Changes with `roomKeys`. */
  const newest = signal(0);
  let chain = { version: 0, step: startChain() };
  let sealing: Promise<unknown> = Promise.resolve();
  await importKeys();

  async function importKeys() {
    for (const [version, text] of Object.entries(secrets.value.roomKeys)) {
      if (roomKeys.has(Number(version))) continue;
      const raw = fromBase64url(text);
      roomKeys.set(Number(version), await importRoomKey(Number(version), raw));
      wipe(raw);
    }
    newest.value = Math.max(...roomKeys.keys());
  }

  async function sealNext(version: number, content: Bytes): Promise<Envelope | undefined> {
    const roomKey = roomKeys.get(version);
    if (!roomKey) return undefined;
    if (chain.version !== version) chain = { version, step: startChain() };
    const { step } = chain;
    const envelope = await seal(roomKey, step, signing.privateKey, { roomId, senderId: participantId }, content);
    chain = { version, step: await advanceChain(step) };
    return envelope;
  }

  /** Changes what is stored, too. */
  async function change(update: (secrets: RoomSecrets) => RoomSecrets): Promise<void> {
    const changed = await updateSecrets(roomId, update);
    if (changed) secrets.value = changed;
  }

  return {
    secrets: secrets as { readonly value: RoomSecrets },
    roomKeys: roomKeys as ReadonlyMap<number, RoomKey>,
    /** Whether this device has the room key of a version. Reading it subscribes. */
    has: (version: number) => newest.value >= version && roomKeys.has(version),
    change,
    /** Encrypts with the next key of this tab's chain, one after the other; undefined without the room key. */
    seal(version: number, content: Bytes): Promise<Envelope | undefined> {
      const sealed = sealing.then(() => sealNext(version, content));
      sealing = sealed.catch(() => undefined);
      return sealed;
    },
    /** Takes the room key out of a package; false if it cannot be read. */
    async take(keys: KeyPackage): Promise<boolean> {
      if (roomKeys.has(keys.version)) return true;
      const raw = await unpackKey(roomId, participantId, agreement, keys).catch(() => undefined);
      if (!raw) return false;
      const text = toBase64url(raw);
      roomKeys.set(keys.version, await importRoomKey(keys.version, raw));
      wipe(raw);
      newest.value = Math.max(...roomKeys.keys());
      await change((stored) => ({ ...stored, roomKeys: { ...stored.roomKeys, [keys.version]: text } }));
      return true;
    },
    /** Takes over what another tab stored; false if the room was removed from this device. */
    async refresh(): Promise<boolean> {
      const stored = await rooms.get(roomId);
      if (!stored) return false;
      secrets.value = await openSecrets(stored);
      await importKeys();
      return true;
    },
    wipe() {
      roomKeys.clear();
      wipe(chain.step.chainKey);
      secrets.value = NO_SECRETS;
    },
  };
}
