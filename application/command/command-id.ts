/** Command ids without an idempotency key: UUIDv7, so that ids derived from them sort by time. */
import { randomUUID } from 'node:crypto';
import type { CommandContext } from '../ports/index.js';

/** Returns a UUIDv7: 48 bits of time, 74 random bits. `now`: Unix ms. */
export function newCommandId(now = Date.now()): string {
  const time = now.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

const UUID_V7 = /^([\da-f]{8})-([\da-f]{4})-7/;

/** Returns the Unix ms of a UUIDv7; undefined for an id derived from a client's key or an event. */
export function timestampOf(commandId: string): number | undefined {
  const [, high, low] = UUID_V7.exec(commandId) ?? [];
  return high && low ? Number.parseInt(high + low, 16) : undefined;
}

/** Returns the context of a command that the program itself runs. */
export function systemContext(actor: string): CommandContext {
  const commandId = newCommandId();
  return { commandId, actor, correlationId: commandId };
}
