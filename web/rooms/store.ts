/**
 * Rooms of this device in IndexedDB, until they end or are forgotten. Private keys are stored as `CryptoKey`s that scripts
 * cannot read; everything else that is secret is encrypted with such a key. Without IndexedDB, a page keeps its rooms until
 * it is closed.
 */
import type { Envelope, Sealed } from './crypto/protocol.js';

export interface RoomRecord {
  readonly roomId: string;
  readonly participantId: string;
  readonly expiresAt: number;
  readonly signing: CryptoKeyPair;
  readonly agreement: CryptoKeyPair;
  /** Encrypts what this device stores for the room. */
  readonly localKey: CryptoKey;
  /** Encrypted `RoomSecrets`. */
  readonly secrets: Sealed;
}

/** A message that has not been acknowledged. */
export interface OutboxRecord {
  /** Also the idempotency key of its first envelope. */
  readonly id: string;
  readonly roomId: string;
  readonly order: number;
  /** Encrypted content. */
  readonly content: Sealed;
  /** Made before the first attempt, so that each attempt sends the same, unless the room key has been changed. */
  readonly envelope?: Envelope;
  /** Of an envelope that took the place of an earlier one. */
  readonly idempotencyKey?: string;
}

const DATABASE = 'annals-rooms';
type StoreName = 'rooms' | 'outbox';

const KEYS: { readonly [name in StoreName]: string } = { rooms: 'roomId', outbox: 'id' };

const resultOf = <Result>(request: IDBRequest<Result>): Promise<Result> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

async function openDatabase(): Promise<IDBDatabase> {
  const request = indexedDB.open(DATABASE, 1);
  request.onupgradeneeded = () => {
    for (const [name, keyPath] of Object.entries(KEYS)) request.result.createObjectStore(name, { keyPath });
  };
  return resultOf(request);
}

let opening: Promise<IDBDatabase | undefined> | undefined;

/** Undefined in browsers that refuse storage. */
const database = () => {
  opening ??= openDatabase().catch(() => undefined);
  return opening;
};

export const isStoragePersistent = async (): Promise<boolean> => (await database()) !== undefined;

function table<Row>(name: StoreName) {
  const memory = new Map<string, Row>();
  const keyOf = (row: Row) => String((row as { [key: string]: unknown })[KEYS[name]]);
  const access = async (mode: IDBTransactionMode) => (await database())?.transaction(name, mode).objectStore(name);
  return {
    async get(key: string): Promise<Row | undefined> {
      const store = await access('readonly');
      return store ? resultOf<Row | undefined>(store.get(key)) : memory.get(key);
    },
    async all(): Promise<readonly Row[]> {
      const store = await access('readonly');
      return store ? resultOf<Row[]>(store.getAll()) : [...memory.values()];
    },
    async put(row: Row): Promise<void> {
      const store = await access('readwrite');
      if (store) await resultOf(store.put(row));
      else memory.set(keyOf(row), row);
    },
    async remove(key: string): Promise<void> {
      const store = await access('readwrite');
      if (store) await resultOf(store.delete(key));
      else memory.delete(key);
    },
  };
}

export const rooms = table<RoomRecord>('rooms');
export const outbox = table<OutboxRecord>('outbox');

/** Unsent messages of a room, oldest first. */
export const outboxOf = async (roomId: string): Promise<readonly OutboxRecord[]> =>
  (await outbox.all()).filter((row) => row.roomId === roomId).sort((a, b) => a.order - b.order);

const draftKey = (roomId: string) => `rooms-draft-${roomId}`;
export const draftStorage = {
  get: (roomId: string): string | null => attempt(() => sessionStorage.getItem(draftKey(roomId))),
  set: (roomId: string, text: string) => attempt(() => sessionStorage.setItem(draftKey(roomId), text)),
  remove: (roomId: string) => attempt(() => sessionStorage.removeItem(draftKey(roomId))),
};

/** Runs alone among the tabs of this browser. */
export const exclusively = <Result>(name: string, run: () => Promise<Result>): Promise<Result> =>
  navigator.locks ? (navigator.locks.request(`rooms-${name}`, run) as Promise<Result>) : run();

/** Removes a room with its keys, unsent messages and draft from this device. */
export async function forgetRoom(roomId: string): Promise<void> {
  draftStorage.remove(roomId);
  await exclusively(`secrets-${roomId}`, () => rooms.remove(roomId));
  for (const { id } of await outboxOf(roomId)) await outbox.remove(id);
}

/** Rooms that have not expired. */
export const openRooms = async (now: number): Promise<readonly RoomRecord[]> =>
  (await rooms.all()).filter(({ expiresAt }) => expiresAt > now);

/** Ended rooms are kept so long: the clock of the device may be ahead. */
const RETENTION_MS = 86_400_000;

/** Removes rooms that expired a day ago, and unsent messages of removed rooms. */
export async function removeEnded(now: number): Promise<void> {
  for (const { roomId, expiresAt } of await rooms.all()) if (expiresAt + RETENTION_MS <= now) await forgetRoom(roomId);
  const open = new Set((await rooms.all()).map(({ roomId }) => roomId));
  for (const { id, roomId } of await outbox.all()) if (!open.has(roomId)) await outbox.remove(id);
}

function attempt<Result>(run: () => Result): Result | null {
  try {
    return run();
  } catch {
    return null;
  }
}
