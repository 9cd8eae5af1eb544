/** Fair-share budget: limits bytes or items in use, and prevents one caller from taking everything. */

/** Why an acquisition failed: the caller's `share` is used up, or the budget is `full` even for new callers. */
export type Shortage = 'share' | 'full';

/** Amount held by one request, connection or job. */
export interface Reservation {
  /** Acquires more; on a shortage acquires nothing and returns the reason. */
  acquire(amount: number): Shortage | undefined;
  giveBack(amount: number): void;
  release(): void;
}

/** Fill level of a bounded resource, for metrics. */
export interface Level {
  readonly name: string;
  readonly limit: number;
  used(): number;
}

export interface Budget extends Level {
  /** @param tenant Network or caller that the amount is charged to; without one only the total limit applies. */
  reserve(tenant?: string): Reservation;
}

/**
 * Largest share of a tenant, as a multiple of the free remainder: two thirds of the budget for the first, two thirds of
 * the rest for the next. With fixed halves two networks could take everything, and any machine has two: IPv4 and IPv6.
 */
const MAX_SHARE_OF_FREE = 2;

/** Creates a budget. A new tenant can acquire as long as the budget lasts; the only tenant can acquire any amount. */
export function createBudget(name: string, limit: number): Budget {
  let used = 0;
  const shares = new Map<string, number>();

  function shortageFor(amount: number, share: number): Shortage | undefined {
    const free = limit - used - amount;
    if (share > 0 && share + amount > MAX_SHARE_OF_FREE * free) return 'share';
    return used > 0 && free < 0 ? 'full' : undefined;
  }

  function reserve(tenant?: string): Reservation {
    let amountHeld = 0;
    const change = (amount: number) => {
      amountHeld += amount;
      used += amount;
      if (tenant === undefined) return;
      const share = (shares.get(tenant) ?? 0) + amount;
      if (share > 0) shares.set(tenant, share);
      else shares.delete(tenant);
    };
    return {
      acquire(amount) {
        const shortage = shortageFor(amount, tenant === undefined ? 0 : (shares.get(tenant) ?? 0));
        if (!shortage) change(amount);
        return shortage;
      },
      giveBack: (amount) => change(-amount),
      release: () => change(-amountHeld),
    };
  }

  return { name, limit, used: () => used, reserve };
}
