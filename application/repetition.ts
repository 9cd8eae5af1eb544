/** A command that comes again with its `Idempotency-Key`: how it is told from another one that was given the same key. */
import type { Rejection } from '../domain/shared/decider.js';

/** The key came before, with another request (docs/commands.md). */
export const misusedKey = (service: string): Rejection => ({
  rejected: `${service}/idempotency-key-reused`,
  kind: 'misused-key',
  detail: 'This Idempotency-Key was used before with another request',
});
