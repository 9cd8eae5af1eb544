/** Reserves the quota of a command. */
import type { Rejection } from '../../domain/shared/index.js';
import type { Quota } from '../ports/index.js';

/** Charges a quota before the command starts, for requests that are expensive even if rejected. */
export function reserveQuota(quota: Quota) {
  let isReserved = false;
  return {
    quota: {
      async spend(): Promise<Rejection | undefined> {
        if (!isReserved) return quota.spend();
        isReserved = false;
        return undefined;
      },
      refund: quota.refund,
    },
    /** Charges the quota now; returns the rejection if it is used up. */
    async charge(): Promise<Rejection | undefined> {
      const refusal = await quota.spend();
      isReserved = !refusal;
      return refusal;
    },
    /** Refunds the charge unless the command has used it; call it after the command. */
    async refundUnused() {
      if (isReserved) await quota.refund();
      isReserved = false;
    },
  };
}
