/** Command context: actor, correlation, idempotency and quota. */
import type { Rejection } from '../../domain/shared/index.js';

/** Origin of a command, stored with every event. Must not contain addresses, user agents or emails. */
export interface CommandContext {
  /** Derived from the `Idempotency-Key` and its caller, else new. Event ids are derived from it. */
  readonly commandId: string;
  /**
   * Keyed digest of the request, only with an `Idempotency-Key`; a different one for the same key is rejected (422).
   */
  readonly fingerprint?: string;
  readonly actor: string;
  readonly correlationId: string;
  readonly causationId?: string;
  readonly traceparent?: string;
  /** Charged when the command runs for the first time. */
  readonly quota?: Quota;
}

/** Quota of one caller. */
export interface Quota {
  /** Spends one unit; returns the rejection if the quota is used up. */
  spend(): Promise<Rejection | undefined>;
  /** Returns one unit that had no effect. */
  refund(): Promise<void>;
}
