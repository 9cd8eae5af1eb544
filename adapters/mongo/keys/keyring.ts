/**
 * The secrets that wrap the keys of an installation: the current one, and former ones it can decrypt.
 *
 * A new secret wraps its predecessor (a link) before it wraps any key, so the newest opens everything and an
 * interrupted rotation loses nothing. The secret that opens the key `installation` is the current one.
 */
import { Binary, type Db } from 'mongodb';
import { UnavailableError } from '../../../application/ports/index.js';
import { type StoredSecret, type Wrapping, wrappingUnder } from '../../crypto/wrapping.js';
import { findKey, INSTALLATION, KEYS, type KeyRow } from './key-rows.js';

const SECRETS = 'secrets';

/** A link: the secret with this id, wrapped under another. Without `under`: the secret stored beside the keys. */
interface SecretRow {
  readonly _id: string;
  readonly under?: string;
  readonly wrapped?: Binary;
  readonly secret?: string;
}

/** A key is wrapped under a secret this process does not have. It must be restarted with the new one. */
export class UnknownSecret extends UnavailableError {}

export interface Keyring {
  readonly current: Wrapping;
  /** Wrappings by secret id, the current one included. */
  readonly known: ReadonlyMap<string, Wrapping>;
}

const linkName = (id: string): string => `secret ${id}`;

/** A damaged link to a secret that still wraps keys. The message says what can be done. */
export class DamagedLink extends UnavailableError {
  constructor(db: Db, id: string, subject: string) {
    const withoutKeys = 'those keys are lost; delete the row, and the data encrypted with them will be shown as erased';
    const withoutInstallation = 'configure the former secret again; nothing else opens this installation';
    super(
      `the row ${id} of ${db.databaseName}.${SECRETS} is damaged: it holds a previous secret that still wraps keys, ` +
        `such as the key of ${subject}. Restore the row from a backup. Without one, ` +
        (subject === INSTALLATION ? withoutInstallation : withoutKeys),
    );
  }
}

/** Finds all secrets that a secret opens, also through links. Rejects with `DamagedLink` if a damaged one is needed. */
export async function keyringOf(db: Db, secret: string): Promise<Keyring> {
  const current = wrappingUnder(secret);
  const known = new Map([[current.id, current]]);
  const damaged: string[] = [];
  const links = await db
    .collection<SecretRow>(SECRETS)
    .find({ under: { $exists: true } })
    .toArray();
  // Iteration of a map includes entries added meanwhile, so links of links are followed.
  for (const wrapping of known.values())
    for (const { _id, under, wrapped } of links)
      if (under === wrapping.id && !known.has(_id)) {
        const previous = unwrapLink(wrapping, _id, wrapped);
        if (previous) known.set(_id, previous);
        else damaged.push(_id);
      }
  const [id] = damaged.filter((each) => !known.has(each));
  if (id === undefined) return { current, known };
  // Includes secrets that only the damaged link leads to.
  const unopened = new Set(links.flatMap((each) => (known.has(each._id) ? [] : [each._id])));
  const key = await findKey(db.collection<KeyRow>(KEYS), ({ under = '' }) => unopened.has(under));
  if (key) throw new DamagedLink(db, id, key._id);
  return { current, known };
}

function unwrapLink(wrapping: Wrapping, id: string, wrapped: Binary | undefined): Wrapping | undefined {
  try {
    return wrapped && wrappingUnder(wrapping.unwrap(linkName(id), wrapped.buffer).toString());
  } catch {
    return undefined;
  }
}

/** Whether a secret with this id was ever in use. A link or the installation's key records it before its first use. */
export async function wasEverUsed(db: Db, id: string): Promise<boolean> {
  const link = { $or: [{ _id: id }, { under: id }] };
  if (await db.collection<SecretRow>(SECRETS).findOne(link)) return true;
  return (await db.collection<KeyRow>(KEYS).findOne({ _id: INSTALLATION, under: id })) !== null;
}

export async function link(db: Db, secret: string, next: Wrapping): Promise<void> {
  const { id } = wrappingUnder(secret);
  const wrapped = new Binary(next.wrap(linkName(id), Buffer.from(secret)));
  const row = { under: next.id, wrapped };
  await db.collection<SecretRow>(SECRETS).replaceOne({ _id: id }, row, { upsert: true });
}

const STORED_ID = 'kept';

/** Stores the secret beside the keys it wraps. No protection: for installations without a configured secret. */
export function createStoredSecret(db: Db): StoredSecret {
  const rows = db.collection<SecretRow>(SECRETS);
  const read = async () => (await rows.findOne({ _id: STORED_ID }))?.secret;
  return {
    read,
    async storeIfAbsent(secret) {
      const row = await rows.findOneAndUpdate(
        { _id: STORED_ID },
        { $setOnInsert: { secret } },
        { upsert: true, returnDocument: 'after' },
      );
      return row?.secret ?? secret;
    },
    async replace(secret) {
      await rows.updateOne({ _id: STORED_ID }, { $set: { secret } }, { upsert: true });
    },
    async remove() {
      await rows.deleteOne({ _id: STORED_ID });
    },
  };
}
