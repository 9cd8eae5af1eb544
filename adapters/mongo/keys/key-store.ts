/** The subjects' keys in MongoDB, wrapped. A destroyed key leaves a mark without it, so that none is ever made again. */
import { type Collection, type Db, type FindOptions, ReadConcern } from 'mongodb';
import { createBatchLoader, withDeadline } from '../../../application/concurrency/index.js';
import { type Logger, UndecryptableError } from '../../../application/ports/index.js';
import type { KeyStore } from '../../../application/secrets/index.js';
import { newSecret, type StoredSecret, type Wrapping, WrongSecret } from '../../crypto/wrapping.js';
import { INSTALLATION, KEYS, type KeyRow, rewrapping, wrappedRow } from './key-rows.js';
import { isNamed, type Keyring, keyringOf, UnknownSecret } from './keyring.js';
import { createLinearizableRead } from './linearizable-read.js';
import { wrapAll } from './rewrap-keys.js';

const MAJORITY = new ReadConcern('majority');
/** How long the primary has for a key that a secondary may know too, ms. */
const REPLICA_MS = 500;

export interface SecretSource {
  /** The configured secret. */
  readonly given?: string | undefined;
  /** Used, and filled at the first start, where none is configured. */
  readonly kept: StoredSecret;
}

export interface OpenedKeys {
  readonly keys: KeyStore;
  readonly installation: Buffer;
}

/**
 * Opens the keys with the secret, and wraps those that stand in clear. Rejects with `WrongSecret`, changing nothing,
 * when the keys are wrapped under another one. `fresh` is the installation's key where there is none yet.
 */
export async function openKeys(
  db: Db,
  { given, kept }: SecretSource,
  fresh: Buffer,
  logger: Logger,
): Promise<OpenedKeys> {
  const rows = db.collection<KeyRow>(KEYS);
  const found = await rows.findOne({ _id: INSTALLATION });
  const secret = given ?? (await kept.read()) ?? (found?.under ? undefined : await kept.keep(newSecret()));
  if (secret === undefined)
    throw new WrongSecret('secret is not set, and the keys are wrapped under one: it must be given');
  const ring = await keyringOf(db, secret);
  const keys = createKeyStore(db, ring, { given, kept }, logger, found?.under);
  if (found?.key) {
    await claim(rows, ring);
    // The installation's key comes last: as long as it is in clear, others may be.
    await wrapAll(rows, ring, (id) => id !== INSTALLATION);
  }
  const installation = await keys.create(INSTALLATION, fresh).catch((error) => {
    throw error instanceof UnknownSecret ? new WrongSecret(NOT_IN_FORCE) : error;
  });
  if (!installation) throw new Error('the key of this installation was destroyed');
  return { keys, installation };
}

const NOT_IN_FORCE =
  'secret is not the one that the keys of this installation are wrapped under (annals keys rotate changes it)';

/**
 * Names the secret at the installation's key before anything is wrapped under it: of nodes that begin at once with
 * several secrets the others would not open what one of them wraps. Rejects with `WrongSecret` when it is another one.
 */
async function claim(rows: Collection<KeyRow>, { current, known }: Keyring): Promise<void> {
  const unclaimed = { _id: INSTALLATION, key: { $exists: true }, under: { $exists: false } };
  const { matchedCount } = await rows.updateOne(unclaimed, { $set: { under: current.id } });
  if (matchedCount > 0) return;
  const { under = '' } = (await rows.findOne({ _id: INSTALLATION })) ?? {};
  if (!known.has(under)) throw new WrongSecret(NOT_IN_FORCE);
}

/** `atStart`: name of the secret of the installation's key. Where it is unknown, the start is refused, not logged. */
function createKeyStore(db: Db, opened: Keyring, source: SecretSource, logger: Logger, atStart?: string): KeyStore {
  const rows = db.collection<KeyRow>(KEYS);
  let ring = opened;
  const complained = new Set(atStart === undefined ? [] : [atStart]);
  const assured = createLinearizableRead(db);

  /**
   * A rotation may have happened meanwhile: what is kept is read again, what is configured can't be. Rejects with
   * `UnknownSecret` where that would help; undefined where no secret was ever of this name, and nothing will.
   */
  async function wrappingNamed(id: string) {
    const known = ring.known.get(id);
    if (known) return known;
    const secret = source.given ?? (await source.kept.read());
    if (secret !== undefined) ring = await keyringOf(db, secret);
    const found = ring.known.get(id);
    if (found) return found;
    if (!(await assured(async () => (await isNamed(db, id)) || undefined))) return undefined;
    const advice = 'keys are wrapped under another secret; start this node with it';
    if (!complained.has(id)) logger.error({ id }, advice);
    complained.add(id);
    throw new UnknownSecret(advice);
  }

  async function keyIn(row: KeyRow | null | undefined): Promise<Buffer | undefined> {
    if (row?.key) {
      const key = Buffer.from(row.key.buffer);
      await rewrap(rows, ring, row, key);
      return key;
    }
    if (!row?.wrapped || !row.under) return undefined;
    const key = unwrapped(await wrappingNamed(row.under), row._id, row.wrapped.buffer);
    if (row.under !== ring.current.id) await rewrap(rows, ring, row, key);
    return key;
  }

  /** Those that are asked for in one moment by one question: a page of events may be of as many subjects. */
  const finding = (options: FindOptions) =>
    createBatchLoader(async (subjects) => {
      const all = await rows.find({ _id: { $in: [...subjects] } }, options).toArray();
      return new Map(all.map((row) => [row._id, row]));
    });
  const found = finding({});
  const foundPreferred = finding({ readConcern: MAJORITY, readPreference: 'primaryPreferred' });
  const foundSecondary = finding({ readConcern: MAJORITY, readPreference: 'secondaryPreferred' });

  const create = async (subject: string, fresh: Buffer) => {
    const { under, wrapped } = wrappedRow(ring.current, subject, fresh);
    const row = await rows.findOneAndUpdate(
      { _id: subject },
      { $setOnInsert: { wrapped, under, createdAt: new Date() } },
      { upsert: true, returnDocument: 'after' },
    );
    return keyIn(row);
  };

  return {
    create,
    async renew(subject, fresh) {
      const $set = { ...wrappedRow(ring.current, subject, fresh), createdAt: new Date() };
      const marked = { _id: subject, destroyedAt: { $exists: true } };
      return (
        (await create(subject, fresh)) ??
        // Who finds no mark any more was overtaken by another node that renewed it.
        keyIn(
          (await rows.findOneAndUpdate(marked, { $set, $unset: { destroyedAt: true } }, { returnDocument: 'after' })) ??
            (await rows.findOne({ _id: subject })),
        )
      );
    },
    async read(subject) {
      const row = await assured(() => found(subject));
      return row && !row.wrapped && !row.key ? 'destroyed' : keyIn(row);
    },
    async readReplica(subject) {
      // A primary that is frozen is still taken for one: after a moment the others are asked.
      const row = await withDeadline(REPLICA_MS, foundPreferred(subject), 'MongoDB').catch(() =>
        foundSecondary(subject),
      );
      // One under another secret is left to `read`, which wraps it anew and so needs a primary.
      const wrapping = row?.under === undefined ? undefined : ring.known.get(row.under);
      return row?.wrapped && wrapping ? unwrapped(wrapping, subject, row.wrapped.buffer) : undefined;
    },
    async destroy(subject) {
      await rows.replaceOne({ _id: subject }, { destroyedAt: new Date() }, { upsert: true });
    },
  };
}

/** Rejects with `Unopenable` what is damaged, or was put in the place of another key. */
function unwrapped(wrapping: Wrapping | undefined, subject: string, wrapped: Uint8Array): Buffer {
  try {
    if (!wrapping) throw new Error('no secret is of the name that it is wrapped under');
    return wrapping.unwrap(subject, wrapped);
  } catch (cause) {
    throw new UndecryptableError(subject, Buffer.from(wrapped).toString('base64'), { cause });
  }
}

/** Brings a key that was read under the current secret. Who read it has it already: where it fails, another will. */
async function rewrap(rows: Collection<KeyRow>, ring: Keyring, row: KeyRow, key: Buffer): Promise<void> {
  const { filter, update } = rewrapping(ring.current, row, key);
  await rows.updateOne(filter, update).catch(() => {});
}
