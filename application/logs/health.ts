/** How the log service is: whether its index follows the log, and what it has taken in. */
import type { Clock, Position, Settled } from '../ports.js';
import { HEALTH_MS } from '../within.js';

/** An index that does not move for so long while the log does stands still. */
const STANDSTILL_MS = 10_000;

export interface IndexState {
  readonly position: string;
  /** How long the oldest event that it does not show yet has been waiting, ms. */
  readonly lag: number;
  readonly standsStill: boolean;
}

export type IndexHealth = ReturnType<typeof createIndexHealth>;

export function createIndexHealth({ settled, clock }: { readonly settled: Settled; readonly clock: Clock }) {
  let latest: Position = 0n;
  let behindSince: number | undefined;
  /** Where the index was when it was looked at last, and when it was first seen there. */
  let [reached, since] = [-1n, clock.now()];

  function look() {
    const position = settled.position('logs.records');
    if (position !== reached) [reached, since] = [position, clock.now()];
  }

  return {
    /** An event of the service is in the log. */
    note(position: Position) {
      if (position <= latest) return;
      if (behindSince === undefined || settled.position('logs.records') >= latest) behindSince = clock.now();
      latest = position;
      look();
    },

    async state(): Promise<IndexState> {
      const caughtUp = await settled.wait('logs.records', latest, HEALTH_MS);
      const lag = caughtUp ? 0 : clock.now() - (behindSince ?? clock.now());
      look();
      // Under load it may be behind for long, and moves all the time.
      const standsStill = lag > STANDSTILL_MS && clock.now() - since > STANDSTILL_MS;
      return { position: String(reached), lag, standsStill };
    },
  };
}
