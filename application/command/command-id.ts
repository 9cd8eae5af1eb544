/** Ids of commands that no client has given a key: they begin with the time, so that what they make lies in its order. */
import { randomUUID } from 'node:crypto';

/** A UUID of version 7: its first 48 bits are the time, 74 others are random. `now`: Unix ms. */
export function newCommandId(now = Date.now()): string {
  const time = now.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

const FRESH = /^([\da-f]{8})-([\da-f]{4})-7/;

/** Unix ms; undefined of an id that was derived from something else: of a client's key, or of an event. */
export function timestampOf(commandId: string): number | undefined {
  const [, high, low] = FRESH.exec(commandId) ?? [];
  return high && low ? Number.parseInt(high + low, 16) : undefined;
}
