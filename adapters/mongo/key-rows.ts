/** A key as it stands in MongoDB, and how it is brought under the secret in force. */
import { Binary, type Filter } from 'mongodb';
import type { Wrapping } from '../crypto/wrapping.js';

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
