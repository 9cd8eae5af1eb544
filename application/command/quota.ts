/** What a command costs, over all its attempts: paid once, and given back where nothing came of it. */
import { isRejection, type Rejection } from '../../domain/shared/index.js';
import type { Quota } from '../ports/index.js';

/** A quota that is spent before the command begins, for what costs much even of a command that is refused then. */
export interface Prepaid {
  readonly quota: Quota;
  /** Why there is nothing more to spend. */
  charge(): Promise<Rejection | undefined>;
  /** To be called when the command has come to its end: gives back what it did not need. */
  refundUnused(): Promise<void>;
}

export function reserveQuota(quota: Quota): Prepaid {
  let ahead = false;
  return {
    quota: {
      async spend() {
        if (!ahead) return quota.spend();
        ahead = false;
        return undefined;
      },
      refund: quota.refund,
    },
    async charge() {
      const refusal = await quota.spend();
      ahead = !refusal;
      return refusal;
    },
    async refundUnused() {
      if (ahead) await quota.refund();
      ahead = false;
    },
  };
}

type Step = () => Promise<Rejection | undefined>;

/**
 * Runs a command with what it has to `pay` before each append; a refusal to that is the command's. The first payment
 * spends the quota, then makes what must be there (`before`); what could not be done yet is tried with the next one.
 * The quota gets back what came to nothing: a command that was refused after all, or turned out to be a repetition, or
 * never came to its append.
 */
export async function withQuota<Outcome extends Rejection | { readonly repeated: boolean }>(
  quota: Quota | undefined,
  before: Step | undefined,
  run: (pay: Step) => Promise<Outcome>,
): Promise<Outcome> {
  let spent = false;
  /** From its append on a command counts: without an answer nobody knows whether it is in the log. */
  let counts = false;

  async function pay() {
    if (!spent) {
      const refusal = await quota?.spend();
      if (refusal) return refusal;
      spent = true;
    }
    if (!counts) {
      const refusal = await before?.();
      if (refusal) return refusal;
      counts = true;
    }
    return undefined;
  }

  try {
    const outcome = await run(pay);
    if (isRejection(outcome) || outcome.repeated) counts = false;
    return outcome;
  } finally {
    if (spent && !counts) await quota?.refund();
  }
}
