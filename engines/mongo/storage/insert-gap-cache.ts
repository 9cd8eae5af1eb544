/**
 * Caches an empty key range: documents inserted by a batch often fall between the same two neighbours, which are then
 * verified only once.
 */

/** A collection as seen by a transaction. */
interface View<Collection> {
  /** Undefined outside of transactions. */
  readonly transaction: number | undefined;
  readonly collection: Collection;
}

/** Two intact neighbouring documents; undefined at an end of the collection. */
export interface Span {
  readonly below: Buffer | undefined;
  readonly above: Buffer | undefined;
}

export interface Gap<Collection> extends View<Collection>, Span {}

export function isInSpan({ below, above }: Span, key: Buffer): boolean {
  const isAbove = !below || Buffer.compare(below, key) < 0;
  return isAbove && (!above || Buffer.compare(key, above) < 0);
}

/** True if the key lies in a gap found by the same transaction. Documents put there since are found by their keys. */
export function isInGap<Collection>(
  gap: Gap<Collection> | undefined,
  { transaction, collection }: View<Collection>,
  key: Buffer,
): boolean {
  if (!gap || transaction === undefined || gap.transaction !== transaction) return false;
  return gap.collection === collection && isInSpan(gap, key);
}
