/** A key as it stands in MongoDB, and how it is brought under the secret in force. */
import { Binary, type Collection, type Filter } from 'mongodb';
import type { Wrapping } from '../../crypto/wrapping.js';

export const KEYS = 'keys';
/** The installation's own key, from which identifiers and tokens are derived; the first to be made. */
export const INSTALLATION = 'installation';

export interface KeyRow {
  readonly _id: string;
  readonly wrapped?: Binary;
  /** Names the secret that it is wrapped under. */
  readonly under?: string;
  /** A key in clear, of a release that did not wrap them. */
  readonly key?: Binary;
  readonly createdAt?: Date;
  readonly destroyedAt?: Date;
}

/** Rows that a store gives in a fraction of a call's deadline. */
const LOOKED_AT_ONCE = 2000;

/**
 * All rows, piece by piece, by the one index that they have: there may be millions, most of them marks of destroyed keys,
 * and a store would be looking for some of them by anything else for longer than a call may take.
 */
export async function* keyRows(rows: Collection<KeyRow>): AsyncGenerator<readonly KeyRow[]> {
  for (let last = ''; ; ) {
    const found = await rows
      .find({ _id: { $gt: last } })
      .sort({ _id: 1 })
      .limit(LOOKED_AT_ONCE)
      .toArray();
    yield found;
    if (found.length < LOOKED_AT_ONCE) return;
    last = found.at(-1)!._id;
  }
}

/** The first key that is such; none that is destroyed. */
export async function findKey(rows: Collection<KeyRow>, isIt: (row: KeyRow) => boolean): Promise<KeyRow | undefined> {
  for await (const some of keyRows(rows)) {
    const found = some.find((row) => !row.destroyedAt && isIt(row));
    if (found) return found;
  }
  return undefined;
}

/** The write that wraps a key under the current secret, unless it was changed or destroyed meanwhile. */
export function rewrapping(current: Wrapping, { _id, wrapped, key }: KeyRow, plain: Buffer) {
  const filter: Filter<KeyRow> = wrapped ? { _id, wrapped } : key ? { _id, key } : { _id };
  return { filter, update: { $set: wrappedRow(current, _id, plain), $unset: { key: true } } as const };
}

/** The fields of a key under the current secret. */
export const wrappedRow = (current: Wrapping, subject: string, key: Buffer) => ({
  wrapped: new Binary(current.wrap(subject, key)),
  under: current.id,
});
