/**
 * The secrets that wrap the keys of an installation: the one in force, and those of before that it opens.
 *
 * A secret that follows another wraps it (a link), before it wraps anything else: so the newest opens whatever any
 * of them wrapped, and a rotation that is cut short loses nothing. What opens the key `installation` is in force.
 */
import { Binary, type Db } from 'mongodb';
import { UnavailableError } from '../../../application/ports/index.js';
import { type Wrapping, wrappingUnder } from '../../crypto/wrapping.js';
import { findKey, INSTALLATION, KEYS, type KeyRow } from './key-rows.js';

export const SECRETS = 'secrets';

/** A link: the secret of this name, wrapped under another; or, without `under`, the one kept beside the keys. */
export interface SecretRow {
  readonly _id: string;
  readonly under?: string;
  readonly wrapped?: Binary;
  readonly secret?: string;
}

/** A key is wrapped under a secret that this process has not got: it needs the new one, and a restart. */
export class UnknownSecret extends UnavailableError {}

export interface Keyring {
  /** What new keys are wrapped under. */
  readonly current: Wrapping;
  /** By the names of the secrets; the current one is among them. */
  readonly known: ReadonlyMap<string, Wrapping>;
}

const linkName = (id: string): string => `secret ${id}`;

/** A link can't be opened, and keys are wrapped under its secret: one line for a person, with what can be done. */
export class DamagedLink extends UnavailableError {
  constructor(db: Db, id: string, subject: string) {
    const lost = 'those keys are lost: delete the row, and what they sealed is shown as erased';
    const nothing = 'only the former secret itself, configured again, opens this installation';
    super(
      `the row ${id} of ${db.databaseName}.${SECRETS} is damaged: it holds a former secret, and keys are wrapped under ` +
        `that still, of ${subject} for one; put the row back from a backup. Without one ` +
        (subject === INSTALLATION ? nothing : lost),
    );
  }
}

/**
 * All that a secret opens, by itself and by links. Rejects with `DamagedLink`; one that nothing is wrapped under any
 * more is no loss.
 */
export async function keyringOf(db: Db, secret: string): Promise<Keyring> {
  const current = wrappingUnder(secret);
  const known = new Map([[current.id, current]]);
  const damaged: string[] = [];
  const links = await db
    .collection<SecretRow>(SECRETS)
    .find({ under: { $exists: true } })
    .toArray();
  // A map is walked in the order in which it grows: what a link opens may open further ones.
  for (const wrapping of known.values())
    for (const { _id, under, wrapped } of links)
      if (under === wrapping.id && !known.has(_id)) {
        const former = linked(wrapping, _id, wrapped);
        if (former) known.set(_id, former);
        else damaged.push(_id);
      }
  const [id] = damaged.filter((each) => !known.has(each));
  if (id === undefined) return { current, known };
  // It may be the one that others of before are opened by.
  const closed = new Set(links.flatMap((each) => (known.has(each._id) ? [] : [each._id])));
  const key = await findKey(db.collection<KeyRow>(KEYS), ({ under = '' }) => closed.has(under));
  if (key) throw new DamagedLink(db, id, key._id);
  return { current, known };
}

function linked(wrapping: Wrapping, id: string, wrapped: Binary | undefined): Wrapping | undefined {
  try {
    return wrapped && wrappingUnder(wrapping.unwrap(linkName(id), wrapped.buffer).toString());
  } catch {
    return undefined;
  }
}

/** Whether the installation was ever under a secret of this name: before it wraps anything a link or its key says so. */
export async function isNamed(db: Db, id: string): Promise<boolean> {
  const link = { $or: [{ _id: id }, { under: id }] };
  if (await db.collection<SecretRow>(SECRETS).findOne(link)) return true;
  return (await db.collection<KeyRow>(KEYS).findOne({ _id: INSTALLATION, under: id })) !== null;
}

/** Makes what `secret` opens open to the holder of `next` too. */
export async function link(db: Db, secret: string, next: Wrapping): Promise<void> {
  const { id } = wrappingUnder(secret);
  const wrapped = new Binary(next.wrap(linkName(id), Buffer.from(secret)));
  const row = { under: next.id, wrapped };
  await db.collection<SecretRow>(SECRETS).replaceOne({ _id: id }, row, { upsert: true });
}
