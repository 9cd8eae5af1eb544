/** Reserves the quota of a command. */
import type { Rejection } from '../../domain/shared/index.js';
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
