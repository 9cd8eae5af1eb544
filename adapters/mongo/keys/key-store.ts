/** Stores the wrapped encryption keys of subjects. A destroyed key leaves a tombstone, so it is never made again. */
import { type Collection, type Db, type FindOptions, ReadConcern } from 'mongodb';
import { createBatchLoader, createFreshSingleFlight, withDeadline } from '../../../application/concurrency/index.js';
import { type Logger, UndecryptableError } from '../../../application/ports/index.js';
import type { KeyStore } from '../../../application/secrets/index.js';
import { newSecret, type StoredSecret, type Wrapping, WrongSecret } from '../../crypto/wrapping.js';
import { INSTALLATION, KEYS, type KeyRow, rewrapUpdate, wrappedFields } from './key-rows.js';
import { type Keyring, keyringOf, UnknownSecret, wasEverUsed } from './keyring.js';

const MAJORITY = new ReadConcern('majority');
/** Milliseconds to wait for the primary before a secondary is read. */
const REPLICA_MS = 500;

export interface SecretSource {
  readonly configured?: string | undefined;
  /** Used, and created at the first start, if no secret is configured. */
  readonly stored: StoredSecret;
}

/** Opens the key store; `fresh` becomes the installation's key if there is none. Rejects with `WrongSecret`. */
export async function openKeys(db: Db, { configured, stored }: SecretSource, fresh: Buffer, logger: Logger) {
  const rows = db.collection<KeyRow>(KEYS);
  const installationRow = await rows.findOne({ _id: INSTALLATION });
  const secret =
    configured ??
    (await stored.read()) ??
    (installationRow?.under ? undefined : await stored.storeIfAbsent(newSecret()));
  if (secret === undefined)
    throw new WrongSecret('secret is not set, but the keys of this installation are wrapped under one; configure it');
  const ring = await keyringOf(db, secret);
  const keys = createKeyStore(db, ring, { configured, stored }, logger, installationRow?.under);
  const installation = await keys.create(INSTALLATION, fresh).catch((error) => {
    throw error instanceof UnknownSecret ? new WrongSecret(SECRET_MISMATCH) : error;
  });
  if (!installation) throw new Error('the key of this installation was destroyed');
  return { keys, installation };
}

const SECRET_MISMATCH =
  'secret does not match the one that wraps the keys of this installation (use "annals keys rotate" to change it)';

/** `initialSecretId`: secret of the installation's key. If it is unknown the start fails, so it is not logged. */
function createKeyStore(
  db: Db,
  opened: Keyring,
  source: SecretSource,
  logger: Logger,
  initialSecretId?: string,
): KeyStore {
  const rows = db.collection<KeyRow>(KEYS);
  let ring = opened;
  const loggedIds = new Set(initialSecretId === undefined ? [] : [initialSecretId]);
  const linearizableRead = createLinearizableRead(db);

  /**
   * Finds the wrapping of a secret; undefined if no secret ever had this id. Reads a stored secret again, as a rotation
   * may have replaced it. Rejects with `UnknownSecret` if a restart with a new configured secret would help.
   */
  async function findWrapping(id: string) {
    const known = ring.known.get(id);
    if (known) return known;
    const secret = source.configured ?? (await source.stored.read());
    if (secret !== undefined) ring = await keyringOf(db, secret);
    const wrapping = ring.known.get(id);
    if (wrapping) return wrapping;
    if (!(await linearizableRead(async () => (await wasEverUsed(db, id)) || undefined))) return undefined;
    const message = 'keys are wrapped under a new secret; restart this node with it';
    if (!loggedIds.has(id)) logger.error({ id }, message);
    loggedIds.add(id);
    throw new UnknownSecret(message);
  }

  async function unwrapRow(row: KeyRow | null | undefined): Promise<Buffer | undefined> {
    if (!row?.wrapped || !row.under) return undefined;
    const key = unwrapKey(await findWrapping(row.under), row._id, row.wrapped.buffer);
    if (row.under !== ring.current.id) await rewrap(rows, ring, row, key);
    return key;
  }

  /** Batches lookups of the same moment: a page of events may need many subjects' keys. */
  const createLookup = (options: FindOptions) =>
    createBatchLoader(async (subjects) => {
      const all = await rows.find({ _id: { $in: [...subjects] } }, options).toArray();
      return new Map(all.map((row) => [row._id, row]));
    });
  const find = createLookup({});
  const findOnPrimary = createLookup({ readConcern: MAJORITY, readPreference: 'primaryPreferred' });
  const findOnSecondary = createLookup({ readConcern: MAJORITY, readPreference: 'secondaryPreferred' });

  /** Batches the keys of the same moment, such as those of past days. */
  const destroy = createBatchLoader(async (subjects): Promise<ReadonlyMap<string, void>> => {
    const replacement = { destroyedAt: new Date() };
    const writes = Array.from(subjects, (_id) => ({ replaceOne: { filter: { _id }, replacement, upsert: true } }));
    await rows.bulkWrite(writes, { ordered: false });
    return new Map();
  });

  const create = async (subject: string, fresh: Buffer) => {
    const { under, wrapped } = wrappedFields(ring.current, subject, fresh);
    const row = await rows.findOneAndUpdate(
      { _id: subject },
      { $setOnInsert: { wrapped, under, createdAt: new Date() } },
      { upsert: true, returnDocument: 'after' },
    );
    return unwrapRow(row);
  };

  return {
    create,
    async renew(subject, fresh) {
      const $set = { ...wrappedFields(ring.current, subject, fresh), createdAt: new Date() };
      const tombstone = { _id: subject, destroyedAt: { $exists: true } };
      return (
        (await create(subject, fresh)) ??
        // Without a tombstone, another node has renewed it already.
        unwrapRow(
          (await rows.findOneAndUpdate(
            tombstone,
            { $set, $unset: { destroyedAt: true } },
            { returnDocument: 'after' },
          )) ?? (await rows.findOne({ _id: subject })),
        )
      );
    },
    async read(subject) {
      const row = await linearizableRead(() => find(subject));
      return row && !row.wrapped ? 'destroyed' : unwrapRow(row);
    },
    async readReplica(subject) {
      // A frozen primary is still the primary for a moment; a secondary is read then.
      const row = await withDeadline(REPLICA_MS, findOnPrimary(subject), 'MongoDB').catch(() =>
        findOnSecondary(subject),
      );
      // A key under another secret must be re-wrapped, which needs the primary: left to `read`.
      const wrapping = row?.under === undefined ? undefined : ring.known.get(row.under);
      return row?.wrapped && wrapping ? unwrapKey(wrapping, subject, row.wrapped.buffer) : undefined;
    },
    destroy,
  };
}

/**
 * Reads again after a write when nothing was found. A primary that was deposed while frozen serves stale reads
 * for a moment, but a write of its never reaches a majority. Concurrent misses share the write.
 */
function createLinearizableRead(db: Db) {
  const rows = db.collection<{ _id: string }>('primary');
  const singleFlight = createFreshSingleFlight();
  const confirmPrimary = () => rows.updateOne({ _id: 'primary' }, { $inc: { asked: 1 } }, { upsert: true });

  return async <T>(read: () => Promise<T | null | undefined>): Promise<T | undefined> => {
    const first = await read();
    if (first !== null && first !== undefined) return first;
    await singleFlight('primary', confirmPrimary);
    return (await read()) ?? undefined;
  };
}

/** Throws `UndecryptableError` if the key is damaged or was swapped with another. */
function unwrapKey(wrapping: Wrapping | undefined, subject: string, wrapped: Uint8Array): Buffer {
  try {
    if (!wrapping) throw new Error('unknown secret id');
    return wrapping.unwrap(subject, wrapped);
  } catch (cause) {
    throw new UndecryptableError(subject, Buffer.from(wrapped).toString('base64'), { cause });
  }
}

/** Re-wraps a key that was read under the current secret. Failures are ignored: a later read tries again. */
async function rewrap(rows: Collection<KeyRow>, ring: Keyring, row: KeyRow, key: Buffer): Promise<void> {
  const { filter, update } = rewrapUpdate(ring.current, row, key);
  await rows.updateOne(filter, update).catch(() => {});
}
