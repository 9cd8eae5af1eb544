/** Layout of the store's key space. */

/**
 * Key prefixes: catalog entries by namespace, counts, spaces to be removed, sessions, their results, and spaces of
 * keys.
 */
const Tag = { catalog: 0x01, count: 0x02, garbage: 0x03, session: 0x04, results: 0x05, space: 0x10 } as const;

const TAGS: ReadonlySet<number | undefined> = new Set(Object.values(Tag));

/** True if the key may belong to this store. */
export const isKey = (key: Buffer): boolean => TAGS.has(key[0]);

const tagKey = (tag: number, rest: Buffer): Buffer => Buffer.concat([Buffer.of(tag), rest]);

function withSpace(tag: number, space: number): Buffer {
  const key = Buffer.alloc(5);
  key[0] = tag;
  key.writeUInt32BE(space, 1);
  return key;
}

export const catalogKey = (namespace: string): Buffer => tagKey(Tag.catalog, Buffer.from(namespace));
export const countKey = (space: number): Buffer => withSpace(Tag.count, space);
export const garbageKey = (space: number): Buffer => withSpace(Tag.garbage, space);
export const sessionKey = (id: Buffer): Buffer => tagKey(Tag.session, id);
/** Key of a piece of a session's results. */
export function resultsKey(id: Buffer, piece: number): Buffer {
  const number = Buffer.allocUnsafe(4);
  number.writeUInt32BE(piece);
  return tagKey(Tag.results, Buffer.concat([id, number]));
}
/** Prefix of all keys of a collection's documents or of one index. */
export const spaceHead = (space: number): Buffer => withSpace(Tag.space, space);

const range = (tag: number) => ({
  low: Buffer.of(tag),
  high: Buffer.of(tag + 1),
  limit: Number.MAX_SAFE_INTEGER,
});

export const CATALOG = range(Tag.catalog);
export const GARBAGE = range(Tag.garbage);
export const SESSIONS = range(Tag.session);

/** End of a space: no key has a byte above this after the prefix. */
export const spaceEnd = (head: Buffer): Buffer => Buffer.concat([head, Buffer.of(0xff)]);
export const spaceOf = (key: Buffer): number => key.readUInt32BE(1);
export const namespaceOf = (key: Buffer): string => key.toString('utf8', 1);
