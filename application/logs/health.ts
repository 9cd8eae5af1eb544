/** How the log service is: whether its index follows the log, and what it has taken in. */
import { HEALTH_MS, withDeadline } from '../concurrency/index.js';
import type { Clock, Position, ProjectionProgress } from '../ports/index.js';

/** An index that does not move for so long while the log does stands still. */
const STANDSTILL_MS = 10_000;

export interface IndexState {
  readonly position: string;
  /** How long the oldest event that it does not show yet has been waiting, ms. */
  readonly lag: number;
  readonly standsStill: boolean;
}

export type IndexHealth = ReturnType<typeof createIndexHealth>;

export function createIndexHealth({ settled, clock }: { readonly settled: ProjectionProgress; readonly clock: Clock }) {
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

/** Whether each of the stores answers in the time that health has: `ok`, or what is wrong. */
export const storageHealth =
  <Store extends string>(ask: { readonly [store in Store]: () => Promise<unknown> }) =>
  async (): Promise<{ readonly [store in Store]: string }> => {
    const told = Object.entries<() => Promise<unknown>>(ask).map(async ([store, asked]) => {
      const answer = await withDeadline(HEALTH_MS, asked(), store).then(
        () => 'ok',
        () => 'does not answer',
      );
      return [store, answer] as const;
    });
    return Object.fromEntries(await Promise.all(told)) as { [store in Store]: string };
  };
