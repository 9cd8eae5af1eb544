/** Brings all keys under the secret in force, a few hundred at a time, while others read and make and destroy them. */
import type { Collection } from 'mongodb';
import { type KeyRow, keyRows, rewrapping } from './key-rows.js';
import type { Keyring } from './keyring.js';

const AT_ONCE = 500;

export interface Wrapped {
  readonly wrapped: number;
  /** Subjects whose keys no known secret opens. */
  readonly unopened: readonly string[];
}

/**
 * Wraps those that are `among`; all, where nothing is said. `progress` is called after each batch, with the number so
 * far; what it throws ends the work.
 */
export async function wrapAll(
  rows: Collection<KeyRow>,
  ring: Keyring,
  among: (id: string) => boolean = () => true,
  progress: (wrapped: number) => void = () => {},
): Promise<Wrapped> {
  let wrapped = 0;
  const isOther = ({ _id, under, destroyedAt }: KeyRow) => under !== ring.current.id && !destroyedAt && among(_id);
  for (;;) {
    const unopened: string[] = [];
    const before = wrapped;
    for await (const some of keyRows(rows)) {
      const others = some.filter(isOther);
      for (let from = 0; from < others.length || from === 0; from += AT_ONCE) {
        const batch = await wrapBatch(rows, ring, others.slice(from, from + AT_ONCE));
        wrapped += batch.wrapped;
        unopened.push(...batch.unopened);
        progress(wrapped);
      }
    }
    // Others may have made keys under the former secret behind our back: until nothing is left that can be done.
    if (wrapped === before) return { wrapped, unopened };
  }
}

/** Wraps one. */
export async function wrapOne(rows: Collection<KeyRow>, ring: Keyring, _id: string): Promise<Wrapped> {
  const row = await rows.findOne({ _id });
  const isOther = row && row.under !== ring.current.id && !row.destroyedAt;
  return isOther ? wrapBatch(rows, ring, [row]) : { wrapped: 0, unopened: [] };
}

async function wrapBatch(rows: Collection<KeyRow>, ring: Keyring, batch: readonly KeyRow[]): Promise<Wrapped> {
  const unopened: string[] = [];
  const updates = batch.flatMap((row) => {
    const plain = plainIn(ring, row);
    if (!plain) unopened.push(row._id);
    return plain ? [{ updateOne: rewrapping(ring.current, row, plain) }] : [];
  });
  if (updates.length === 0) return { wrapped: 0, unopened };
  const { modifiedCount: wrapped } = await rows.bulkWrite(updates, { ordered: false });
  return { wrapped, unopened };
}

function plainIn(ring: Keyring, { _id, key, wrapped, under = '' }: KeyRow): Buffer | undefined {
  if (key) return Buffer.from(key.buffer);
  try {
    return wrapped && ring.known.get(under)?.unwrap(_id, wrapped.buffer);
  } catch {
    return undefined;
  }
}
