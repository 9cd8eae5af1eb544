/** Charges the quota of a command once over all its attempts, and refunds it if the command has no effect. */
import { isRejection, type Rejection } from '../../domain/shared/index.js';
import type { Quota } from '../ports/index.js';

/** Quota charged before the command starts, for requests that are expensive even if rejected. */
export interface QuotaReservation {
  readonly quota: Quota;
  /** Charges the quota now; returns the rejection if it is used up. */
  charge(): Promise<Rejection | undefined>;
  /** Refunds the charge unless the command has used it; call it after the command. */
  refundUnused(): Promise<void>;
}

export function reserveQuota(quota: Quota): QuotaReservation {
  let isReserved = false;
  return {
    quota: {
      async spend() {
        if (!isReserved) return quota.spend();
        isReserved = false;
        return undefined;
      },
      refund: quota.refund,
    },
    async charge() {
      const refusal = await quota.spend();
      isReserved = !refusal;
      return refusal;
    },
    async refundUnused() {
      if (isReserved) await quota.refund();
      isReserved = false;
    },
  };
}

type Step = () => Promise<Rejection | undefined>;

/**
 * Runs a command, which must call `charge` before each append and return its rejection, if any. `charge` spends the
 * quota and runs `beforeAppend`, each until it has succeeded once. The quota is refunded if the command is rejected,
 * is a repetition or never gets to its append.
 */
export async function withQuota<Outcome extends Rejection | { readonly repeated: boolean }>(
  quota: Quota | undefined,
  beforeAppend: Step | undefined,
  run: (charge: Step) => Promise<Outcome>,
): Promise<Outcome> {
  let isCharged = false;
  /** From the append on the charge stays: without an answer the events may be in the log. */
  let isFinal = false;

  async function charge() {
    if (!isCharged) {
      const refusal = await quota?.spend();
      if (refusal) return refusal;
      isCharged = true;
    }
    if (!isFinal) {
      const refusal = await beforeAppend?.();
      if (refusal) return refusal;
      isFinal = true;
    }
    return undefined;
  }

  try {
    const outcome = await run(charge);
    if (isRejection(outcome) || outcome.repeated) isFinal = false;
    return outcome;
  } finally {
    if (isCharged && !isFinal) await quota?.refund();
  }
}
