/** Who runs a command, on whose request, and what it counts towards. */
import type { Rejection } from '../../domain/shared/index.js';

/** Who caused an event, and on whose request; kept with every event. Never an address, user agent or email. */
export interface CommandContext {
  /** Derived from an `Idempotency-Key` and its caller, else fresh. Event ids are derived from it. */
  readonly commandId: string;
  /** A keyed digest of the request, given only with an `Idempotency-Key`: another one is a misuse (422). */
  readonly fingerprint?: string;
  readonly actor: string;
  readonly correlationId: string;
  readonly causationId?: string;
  readonly traceparent?: string;
  /** What the command counts towards, when it is done for the first time. */
  readonly quota?: Quota;
}

/** How often something may be done; whoever asks knows by whom. */
export interface Quota {
  /** Counts one more, or says why not. */
  spend(): Promise<Rejection | undefined>;
  /** One that was counted came to nothing. */
  refund(): Promise<void>;
}
