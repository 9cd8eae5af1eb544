/** A budget of what all callers share, in bytes or in pieces: bounded, and nobody can have all of it. */

/** Why there is no more: one has had its share, or it is `full` also for who has nothing of it yet. */
export type Shortage = 'share' | 'full';

/** What one request, connection or piece of work has of a budget. */
export interface Reservation {
  /** Takes so much more; or says why not, and takes nothing. */
  acquire(amount: number): Shortage | undefined;
  giveBack(amount: number): void;
  /** Gives back all that is left. */
  release(): void;
}

/** How much there is of something that is bounded. */
export interface Level {
  readonly name: string;
  readonly limit: number;
  used(): number;
}

export interface Budget extends Level {
  /** `whose` share it counts for: a network's, or a caller's. What is nobody's has no share. */
  reserve(whose?: string): Reservation;
}

/**
 * What one may hold, as a multiple of what is left for the others: two thirds of the budget, and two thirds of what it
 * has left is there for the next. A fixed share would come to an end: with one half each, two networks have
 * everything, and any machine has two, one of IPv4 and one of IPv6.
 */
const TIMES_THE_REST = 2;

/** Who holds nothing yet gets a first piece as long as anything is left; who is alone, for any amount. */
export function createBudget(name: string, limit: number): Budget {
  let used = 0;
  const shares = new Map<string, number>();

  function shortageFor(amount: number, mine: number): Shortage | undefined {
    const rest = limit - used - amount;
    if (mine > 0 && mine + amount > TIMES_THE_REST * rest) return 'share';
    return used > 0 && rest < 0 ? 'full' : undefined;
  }

  function reserve(whose?: string): Reservation {
    let held = 0;
    const change = (amount: number) => {
      held += amount;
      used += amount;
      if (whose === undefined) return;
      const mine = (shares.get(whose) ?? 0) + amount;
      if (mine > 0) shares.set(whose, mine);
      else shares.delete(whose);
    };
    return {
      acquire(amount) {
        const lacking = shortageFor(amount, whose === undefined ? 0 : (shares.get(whose) ?? 0));
        if (!lacking) change(amount);
        return lacking;
      },
      giveBack: (amount) => change(-amount),
      release: () => change(-held),
    };
  }

  return { name, limit, used: () => used, reserve };
}
