/** Stream metadata: the keys that decide which events of a stream may be read. */

/** Values of `$maxCount`, `$maxAge` and `$tb`. */
export interface Retention {
  /** Maximum number of readable events; undefined for all. */
  readonly maxCount: number | undefined;
  /** Milliseconds an event stays readable. */
  readonly maxAge: number | undefined;
  /** First readable revision. */
  readonly truncateBefore: number;
}

const ALL: Retention = { maxCount: undefined, maxAge: undefined, truncateBefore: 0 };
const METASTREAM: Retention = { ...ALL, maxCount: 1 };

export const isMetastream = (stream: string): boolean => stream.startsWith('$$');
export const metastreamOf = (stream: string): string => `$$${stream}`;
export const streamOfMetastream = (metastream: string): string => metastream.slice(2);

/** Retention of a stream without metadata. Metastreams keep one event. */
export const initialRetention = (stream: string): Retention => (isMetastream(stream) ? METASTREAM : ALL);

/**
 * Parses stored metadata. As on the real server, a known key of the wrong type voids all of it, anything but a JSON
 * object is ignored, and a number that is not positive counts as absent.
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

/** True if stored metadata limits who may access the stream. */
export const hasAccessControl = (json: Buffer): boolean => '$acl' in parseObject(json);

function parseObject(json: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json.toString());
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
  } catch {
    return {};
  }
}

const isValid = (metadata: Record<string, unknown>): boolean =>
  (['$maxCount', '$maxAge', '$tb'] as const).every((key) => !(key in metadata) || isInteger(metadata[key]));

/** Accepts 64-bit integers; `JSON.parse` rounds the largest one up. */
const isInteger = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= 2 ** 63;

const positive = (value: unknown): number | undefined => (isInteger(value) && value > 0 ? value : undefined);
