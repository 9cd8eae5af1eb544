/** Stream metadata: the three keys that decide which events of a stream may still be read. */

/** What `$maxCount`, `$maxAge` and `$tb` say. */
export interface Retention {
  /** At most so many events; undefined means all. */
  readonly maxCount: number | undefined;
  /** Milliseconds that an event may be read. */
  readonly maxAge: number | undefined;
  /** The first revision that may be read; `SOFT_DELETED` for a soft-deleted stream. */
  readonly truncateBefore: number;
}

/** The `$tb` of a soft-deleted stream, 2^63 - 1 as JSON.parse gives it. */
export const SOFT_DELETED = 2 ** 63;

const ALL: Retention = { maxCount: undefined, maxAge: undefined, truncateBefore: 0 };
const METASTREAM: Retention = { ...ALL, maxCount: 1 };

export const isMetastream = (stream: string): boolean => stream.startsWith('$$');
export const metastreamOf = (stream: string): string => `$$${stream}`;
export const describedBy = (metastream: string): string => metastream.slice(2);

/** What holds for a stream before anything was said: metastreams keep one event. */
export const initialRetention = (stream: string): Retention => (isMetastream(stream) ? METASTREAM : ALL);

/**
 * Reads metadata as stored. A known key with a value of a wrong type voids all of it, as on the real server; what is
 * no JSON object says nothing; a number that is not positive counts as absent.
 */
export function parseRetention(json: Buffer): Retention {
  const metadata = parseObject(json);
  if (!isValid(metadata)) return ALL;
  const maxAge = positive(metadata.$maxAge);
  return {
    maxCount: positive(metadata.$maxCount),
    maxAge: maxAge && maxAge * 1000,
    truncateBefore: positive(metadata.$tb) ?? 0,
  };
}

/** The metadata with `$tb` set to the revision at which a soft-deleted stream begins again; other keys stay. */
export const reopened = (json: Buffer, truncateBefore: number): Buffer =>
  Buffer.from(JSON.stringify({ ...parseObject(json), $tb: truncateBefore }));

/** What a soft delete writes: every other key is gone. */
export const softDeletion = Buffer.from('{"$tb":9223372036854775807}');

function parseObject(json: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json.toString());
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
  } catch {
    return {};
  }
}

const INTEGERS = ['$maxCount', '$maxAge', '$tb', '$cacheControl'] as const;

const isValid = (metadata: Record<string, unknown>): boolean =>
  INTEGERS.every((key) => !(key in metadata) || isInteger(metadata[key])) &&
  (!('$tmp' in metadata) || typeof metadata.$tmp === 'boolean') &&
  (!('$acl' in metadata) || isAcl(metadata.$acl));

const ROLES = ['$r', '$w', '$d', '$mr', '$mw'] as const;

/** Roles for each kind of access: one, or a list. */
function isAcl(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const acl: Record<string, unknown> = { ...value };
  const isRole = (role: unknown) => typeof role === 'string';
  return ROLES.every((key) => !(key in acl) || isRole(acl[key]) || (Array.isArray(acl[key]) && acl[key].every(isRole)));
}

/** A 64-bit one; `JSON.parse` rounds the largest up. */
const isInteger = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= SOFT_DELETED;

const positive = (value: unknown): number | undefined => (isInteger(value) && value > 0 ? value : undefined);
