/**
 * Rotates the secret: makes another one current, and re-wraps all keys under it.
 *
 * The order keeps every key readable after a crash between any two steps, and running the command again
 * continues:
 * 1. The new secret wraps the former one. From here on the new one opens everything.
 * 2. If the program stores the secret itself, the new one replaces the former.
 * 3. The installation's key is re-wrapped. From here on a start with the former secret is refused.
 * 4. All other keys are re-wrapped.
 * Derived identifiers and tokens do not change: the installation's key itself stays the same.
 */
import type { Collection, Db } from 'mongodb';
import type { Logger } from '../../../application/ports/index.js';
import { newSecret, WrongSecret } from '../../crypto/wrapping.js';
import { findKey, INSTALLATION, KEYS, type KeyRow, keyRows, rewrapUpdate } from './key-rows.js';
import { openKeys, type SecretSource } from './key-store.js';
import { type Keyring, keyringOf, link } from './keyring.js';

const BATCH_KEYS = 500;

/** The current secret is configured, and no new one was provided. */
export class NoNewSecret extends Error {
  override readonly name = 'NoNewSecret';
}

export interface RotationOptions extends SecretSource {
  /** The new secret. Default: the configured one if it is not current yet, else a random one if it is stored. */
  readonly next?: string | undefined;
  readonly fresh: Buffer;
  readonly logger: Logger;
  readonly progress?: (wrapped: number) => void;
  /** Throws if another process may be rotating too: this one would overwrite its stored secret. */
  readonly assertExclusive?: () => void;
}

export interface RewrapResult {
  readonly wrapped: number;
  /** Subjects with keys that no known secret opens. */
  readonly unopened: readonly string[];
}

/** Rejects with `WrongSecret` if no available secret opens the keys, and with `NoNewSecret`. */
export async function rotate(db: Db, options: RotationOptions) {
  const { configured, stored, progress, assertExclusive } = options;
  const rows = db.collection<KeyRow>(KEYS);
  if (!(await currentSecretId(rows))) await openKeys(db, options, options.fresh, options.logger);
  const currentId = await currentSecretId(rows);
  const storedSecret = await stored.read();
  const next = options.next ?? (await chooseSecret(db, currentId, configured, storedSecret));

  let previous: string | undefined;
  for (const secret of [next, configured, storedSecret])
    if (!previous && secret && (await keyringOf(db, secret)).known.has(currentId)) previous = secret;
  if (!previous) throw new WrongSecret('none of the provided secrets opens the keys of this installation');

  let ring = await keyringOf(db, next);
  if (!ring.known.has(currentId)) {
    assertExclusive?.();
    await link(db, previous, ring.current);
    ring = await keyringOf(db, next);
  }
  /** Whether the program stores the new secret. If not, it must be configured on every node. */
  const isStored = configured === undefined;
  // A concurrent rotation has stored a secret that alone opens the keys.
  if (!ring.known.has(await currentSecretId(rows))) throw new WrongSecret(OVERTAKEN);
  assertExclusive?.();
  if (isStored) await stored.replace(next);
  const first = await rewrapOne(rows, ring, INSTALLATION);
  const others = await rewrapAll(rows, ring, (wrapped) => progress?.(first.wrapped + wrapped));
  // The configured secret opens everything the stored one does.
  if (!isStored && storedSecret !== undefined) await stored.remove();
  return { wrapped: first.wrapped + others.wrapped, unopened: others.unopened, isStored };
}

const OVERTAKEN = 'another process has rotated the secret meanwhile; nothing to do';

const currentSecretId = async (rows: Collection<KeyRow>): Promise<string> =>
  (await rows.findOne({ _id: INSTALLATION }))?.under ?? '';

async function chooseSecret(
  db: Db,
  currentId: string,
  configured: string | undefined,
  storedSecret: string | undefined,
): Promise<string> {
  if (configured === undefined) return newSecret();
  const ring = await keyringOf(db, configured);
  const isNew = ring.current.id !== currentId;
  if (isNew || storedSecret !== undefined) return configured;
  const isUnfinished = await findKey(db.collection<KeyRow>(KEYS), ({ under }) => under !== ring.current.id);
  if (isUnfinished) return configured;
  throw new NoNewSecret('the configured secret is already current; provide a new one');
}

/**
 * Re-wraps all keys under the current secret, in batches, while other nodes use the store. `progress` gets the number
 * so far after each batch; an error it throws stops the work.
 */
async function rewrapAll(
  rows: Collection<KeyRow>,
  ring: Keyring,
  progress: (wrapped: number) => void,
): Promise<RewrapResult> {
  let wrapped = 0;
  const needsRewrap = ({ under, destroyedAt }: KeyRow) => under !== ring.current.id && !destroyedAt;
  for (;;) {
    const unopened: string[] = [];
    const before = wrapped;
    for await (const batch of keyRows(rows)) {
      const pending = batch.filter(needsRewrap);
      for (let from = 0; from < pending.length || from === 0; from += BATCH_KEYS) {
        const batch = await rewrapBatch(rows, ring, pending.slice(from, from + BATCH_KEYS));
        wrapped += batch.wrapped;
        unopened.push(...batch.unopened);
        progress(wrapped);
      }
    }
    // Other nodes may have wrapped keys under the former secret meanwhile: repeated until a pass changes nothing.
    if (wrapped === before) return { wrapped, unopened };
  }
}

async function rewrapOne(rows: Collection<KeyRow>, ring: Keyring, _id: string): Promise<RewrapResult> {
  const row = await rows.findOne({ _id });
  const needsRewrap = row && row.under !== ring.current.id && !row.destroyedAt;
  return needsRewrap ? rewrapBatch(rows, ring, [row]) : { wrapped: 0, unopened: [] };
}

async function rewrapBatch(rows: Collection<KeyRow>, ring: Keyring, batch: readonly KeyRow[]): Promise<RewrapResult> {
  const unopened: string[] = [];
  const updates = batch.flatMap((row) => {
    const plainKey = unwrap(ring, row);
    if (!plainKey) unopened.push(row._id);
    return plainKey ? [{ updateOne: rewrapUpdate(ring.current, row, plainKey) }] : [];
  });
  if (updates.length === 0) return { wrapped: 0, unopened };
  const { modifiedCount: wrapped } = await rows.bulkWrite(updates, { ordered: false });
  return { wrapped, unopened };
}

function unwrap(ring: Keyring, { _id, wrapped, under = '' }: KeyRow): Buffer | undefined {
  try {
    return wrapped && ring.known.get(under)?.unwrap(_id, wrapped.buffer);
  } catch {
    return undefined;
  }
}
