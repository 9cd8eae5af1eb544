/** Where nothing is stored: rows that a batch makes often lie between the same two, which are looked at once then. */

/** A collection as a transaction sees it. */
interface View<Collection> {
  /** Undefined outside of transactions. */
  readonly transaction: number | undefined;
  readonly collection: Collection;
}

/** Two documents that are whole and stand side by side, or the end of the collection in the place of one. */
export interface Gap<Collection> extends View<Collection> {
  readonly below: Buffer | undefined;
  readonly above: Buffer | undefined;
}

/** Whether the key lies in a gap that the same transaction has found; what it put there since is found by its key. */
export function isInGap<Collection>(
  gap: Gap<Collection> | undefined,
  { transaction, collection }: View<Collection>,
  key: Buffer,
): boolean {
  if (!gap || transaction === undefined || gap.transaction !== transaction) return false;
  if (gap.collection !== collection) return false;
  const isAbove = !gap.below || Buffer.compare(gap.below, key) < 0;
  return isAbove && (!gap.above || Buffer.compare(key, gap.above) < 0);
}
