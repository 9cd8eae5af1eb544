/** Where nothing is stored: rows that a batch makes often lie between the same two, which are looked at once then. */

/** A collection as a transaction sees it. */
interface View<Collection> {
  /** Undefined outside of transactions. */
  readonly transaction: number | undefined;
  readonly collection: Collection;
}

/** Two documents that are whole and stand side by side, or the end of the collection in the place of one. */
export interface Span {
  readonly below: Buffer | undefined;
  readonly above: Buffer | undefined;
}

export interface Gap<Collection> extends View<Collection>, Span {}

export function liesIn({ below, above }: Span, key: Buffer): boolean {
  const isAbove = !below || Buffer.compare(below, key) < 0;
  return isAbove && (!above || Buffer.compare(key, above) < 0);
}

/** Whether the key lies in a gap that the same transaction has found; what it put there since is found by its key. */
export function isInGap<Collection>(
  gap: Gap<Collection> | undefined,
  { transaction, collection }: View<Collection>,
  key: Buffer,
): boolean {
  if (!gap || transaction === undefined || gap.transaction !== transaction) return false;
  return gap.collection === collection && liesIn(gap, key);
}
