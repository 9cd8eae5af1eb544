/** Re-wraps all keys under the current secret, in batches, while other nodes use the store. */
import type { Collection } from 'mongodb';
import { type KeyRow, keyRows, rewrapUpdate } from './key-rows.js';
import type { Keyring } from './keyring.js';

const BATCH_KEYS = 500;

export interface RewrapResult {
  readonly wrapped: number;
  /** Subjects with keys that no known secret opens. */
  readonly unopened: readonly string[];
}

/**
 * Re-wraps the keys that `filter` selects by id. `progress` gets the number so far after each batch; an error it
 * throws stops the work.
 */
export async function rewrapAll(
  rows: Collection<KeyRow>,
  ring: Keyring,
  filter: (id: string) => boolean = () => true,
  progress: (wrapped: number) => void = () => {},
): Promise<RewrapResult> {
  let wrapped = 0;
  const needsRewrap = ({ _id, under, destroyedAt }: KeyRow) => under !== ring.current.id && !destroyedAt && filter(_id);
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

/** Re-wraps one key. */
export async function rewrapOne(rows: Collection<KeyRow>, ring: Keyring, _id: string): Promise<RewrapResult> {
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

function unwrap(ring: Keyring, { _id, key, wrapped, under = '' }: KeyRow): Buffer | undefined {
  if (key) return Buffer.from(key.buffer);
  try {
    return wrapped && ring.known.get(under)?.unwrap(_id, wrapped.buffer);
  } catch {
    return undefined;
  }
}
