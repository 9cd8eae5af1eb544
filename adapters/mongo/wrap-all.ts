/** Brings all keys under the secret in force, a few hundred at a time, while others read and make and destroy them. */
import type { Collection, Filter } from 'mongodb';
import { type KeyRow, rewrapping } from './key-rows.js';
import type { Keyring } from './keyring.js';

const AT_ONCE = 500;

export interface Wrapped {
  readonly wrapped: number;
  /** Subjects whose keys no known secret opens. */
  readonly unopened: readonly string[];
}

/** `progress` is called after each batch, with the number so far; what it throws ends the work. */
export async function wrapAll(
  rows: Collection<KeyRow>,
  ring: Keyring,
  among: Filter<KeyRow> = {},
  progress: (wrapped: number) => void = () => {},
): Promise<Wrapped> {
  let wrapped = 0;
  for (;;) {
    const unopened: string[] = [];
    const before = wrapped;
    const others: Filter<KeyRow> = {
      $and: [among, { under: { $ne: ring.current.id }, destroyedAt: { $exists: false } }],
    };
    let batch: KeyRow[] = [];
    const write = async () => {
      const updates = batch.flatMap((row) => {
        const plain = plainIn(ring, row);
        if (!plain) unopened.push(row._id);
        return plain ? [{ updateOne: rewrapping(ring.current, row, plain) }] : [];
      });
      batch = [];
      if (updates.length > 0) wrapped += (await rows.bulkWrite(updates, { ordered: false })).modifiedCount;
      progress(wrapped);
    };
    for await (const row of rows.find(others)) {
      batch.push(row);
      if (batch.length === AT_ONCE) await write();
    }
    await write();
    // Others may have made keys under the former secret behind our back: until nothing is left that can be done.
    if (wrapped === before) return { wrapped, unopened };
  }
}

function plainIn(ring: Keyring, { _id, key, wrapped, under = '' }: KeyRow): Buffer | undefined {
  if (key) return Buffer.from(key.buffer);
  try {
    return wrapped && ring.known.get(under)?.unwrap(_id, wrapped.buffer);
  } catch {
    return undefined;
  }
}
