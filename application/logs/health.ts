/** Health of the log service: the index's lag, and whether the stores answer. */
import { HEALTH_MS, withDeadline } from '../concurrency/index.js';
import type { Clock, Position, ProjectionProgress } from '../ports/index.js';

/** Milliseconds without progress, while events wait, after which the index counts as stalled. */
const STANDSTILL_MS = 10_000;

export type IndexHealth = ReturnType<typeof createIndexHealth>;

export function createIndexHealth({
  projectionProgress,
  clock,
}: {
  readonly projectionProgress: ProjectionProgress;
  readonly clock: Clock;
}) {
  let latest: Position = 0n;
  let behindSince: number | undefined;
  let [lastPosition, changedAt] = [-1n, clock.now()];

  function observe() {
    const position = projectionProgress.position('logs.records');
    if (position !== lastPosition) [lastPosition, changedAt] = [position, clock.now()];
  }

  return {
    onEvent({ position }: { readonly position: Position }) {
      if (position <= latest) return;
      if (behindSince === undefined || projectionProgress.position('logs.records') >= latest) behindSince = clock.now();
      latest = position;
      observe();
    },

    async state() {
      const caughtUp = await projectionProgress.wait('logs.records', latest, HEALTH_MS);
      // Age of the oldest event the index does not reflect yet, ms.
      const lag = caughtUp ? 0 : clock.now() - (behindSince ?? clock.now());
      observe();
      // Under load the lag may be long although the index makes progress.
      const standsStill = lag > STANDSTILL_MS && clock.now() - changedAt > STANDSTILL_MS;
      return { position: String(lastPosition), lag, standsStill };
    },
  };
}

/** Checks that each store answers within the health deadline: `ok`, or the problem. */
export const storageHealth =
  <Store extends string>(probes: { readonly [store in Store]: () => Promise<unknown> }) =>
  async (): Promise<{ readonly [store in Store]: string }> => {
    const checks = Object.entries<() => Promise<unknown>>(probes).map(async ([store, probe]) => {
      const answer = await withDeadline(HEALTH_MS, probe(), store).then(
        () => 'ok',
        () => 'does not answer',
      );
      return [store, answer] as const;
    });
    return Object.fromEntries(await Promise.all(checks)) as { [store in Store]: string };
  };
