/** Parses the request headers shared by all services. All input is untrusted. */
import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import type { Position } from '../../../application/ports/index.js';
import { type Problem, problem } from '../server/problem.js';

/** The client's request id if it is safe to log, otherwise a new one. */
export const requestIdOf = (value: string | undefined): string =>
  value !== undefined && /^[\w.:-]{1,128}$/.test(value) ? value : randomUUID();

/** The token of `Authorization: Bearer`, unverified. */
export const bearerOf = (authorization: string | undefined): string | undefined =>
  /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];

export function basicOf(authorization: string | undefined) {
  const encoded = /^basic +([A-Za-z0-9+/_-]+={0,2}) *$/i.exec(authorization ?? '')?.[1];
  if (encoded === undefined) return undefined;
  const bytes = Buffer.from(encoded, 'base64');
  // The challenge requests UTF-8 (RFC 7617), but `btoa` in pages encodes Latin-1.
  const decoded = bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1');
  const colon = decoded.indexOf(':');
  if (colon < 0) return undefined;
  return { username: decoded.slice(0, colon), password: decoded.slice(colon + 1) };
}

/** Only in the W3C format, version 00. */
export const traceparentOf = (value: string | undefined): string | undefined =>
  value !== undefined && /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/.test(value) ? value : undefined;

/** Rejects invalid positions, as the requested consistency can't be guaranteed. */
export function ifPositionOf(value: string | undefined): Position | Problem | undefined {
  if (value === undefined) return undefined;
  return toPosition(value) ?? problem(400, 'If-Position is invalid');
}

export function idempotencyKeyOf(value: string | undefined): string | Problem | undefined {
  if (value === undefined || /^[\x20-\x7e]{1,255}$/.test(value)) return value;
  return problem(400, 'Idempotency-Key is invalid: 1 to 255 printable characters');
}

/** Resume position of a stream. Invalid values count as too old to resume from. */
export function cursorOf(lastEventId: string | undefined): Position | undefined {
  if (!lastEventId) return undefined;
  return toPosition(lastEventId) ?? -1n;
}

/** Positions fit into 64 bits. */
function toPosition(text: string): Position | undefined {
  const position = /^\d{1,19}$/.test(text) ? BigInt(text) : undefined;
  return position !== undefined && position < 2n ** 63n ? position : undefined;
}
