/** Rows of wrapped keys. */
import { Binary, type Collection, type Filter } from 'mongodb';
import type { Wrapping } from '../../crypto/wrapping.js';

export const KEYS = 'keys';
/** The installation's key, created first. Identifiers and tokens are derived from it. */
export const INSTALLATION = 'installation';

export interface KeyRow {
  readonly _id: string;
  readonly wrapped?: Binary;
  readonly under?: string;
  readonly createdAt?: Date;
  readonly destroyedAt?: Date;
}

/** Rows per query: read in a fraction of a call's deadline. */
const BATCH_ROWS = 2000;

/** Reads all rows in batches by `_id`, the only index: there may be millions, too many to scan with another filter. */
export async function* keyRows(rows: Collection<KeyRow>): AsyncGenerator<readonly KeyRow[]> {
  for (let lastId = ''; ; ) {
    const found = await rows
      .find({ _id: { $gt: lastId } })
      .sort({ _id: 1 })
      .limit(BATCH_ROWS)
      .toArray();
    yield found;
    if (found.length < BATCH_ROWS) return;
    lastId = found.at(-1)!._id;
  }
}

export async function findKey(
  rows: Collection<KeyRow>,
  matches: (row: KeyRow) => boolean,
): Promise<KeyRow | undefined> {
  for await (const batch of keyRows(rows)) {
    const found = batch.find((row) => !row.destroyedAt && matches(row));
    if (found) return found;
  }
  return undefined;
}

/** Builds the write that wraps a key under the current secret, unless it has changed or was destroyed. */
export const rewrapUpdate = (current: Wrapping, { _id, wrapped }: KeyRow, plain: Buffer) => ({
  filter: { _id, wrapped } as Filter<KeyRow>,
  update: { $set: wrappedFields(current, _id, plain) },
});

export const wrappedFields = (current: Wrapping, subject: string, key: Buffer) => ({
  wrapped: new Binary(current.wrap(subject, key)),
  under: current.id,
});
