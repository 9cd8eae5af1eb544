/** Delivers events to a projection whose leader fails before a bulk of writes, and is followed by another one. */
import fc from 'fast-check';
import type { Lease, RecordedEvent } from '../../application/ports/index.js';
import type { Apply, OwnProjection } from '../../projections/kernel/projection.js';

/** A leader: starts `back` events before the last applied one, applies batches, and fails after `writes` bulks. */
export interface Leader {
  readonly back: number;
  readonly batch: number;
  readonly writes: number;
}

export const leaders = (most: number, writes = 12): fc.Arbitrary<readonly Leader[]> =>
  fc.array(fc.record({ back: fc.nat(most / 2), batch: fc.integer({ min: 1, max: most }), writes: fc.nat(writes) }), {
    minLength: 1,
    maxLength: 6,
  });

/** The projection with each bulk split into bulks of one or two writes, so that a leader may fail within it. */
export const splittingBulks = (projection: OwnProjection): OwnProjection => ({
  ...projection,
  open: (build) =>
    projection.open({
      ...build,
      async write(part, writes) {
        for (let from = 0; from < writes.length; from += 2) await build.write(part, writes.slice(from, from + 2));
      },
    }),
});

class LeaderFailed extends Error {}

/** A last leader, which does not fail, applies the remaining events. */
export async function deliverWithFailovers(
  events: readonly RecordedEvent[],
  open: (lease: Pick<Lease, 'assertHeld'>) => Promise<Apply>,
  all: readonly Leader[],
): Promise<void> {
  let at = 0;
  for (const { back, batch, writes } of [...all, { back: 0, batch: events.length, writes: Number.POSITIVE_INFINITY }]) {
    let left = writes;
    const apply = await open({
      assertHeld() {
        if (left-- <= 0) throw new LeaderFailed();
      },
    });
    at = Math.max(0, at - back);
    try {
      for (; at < events.length; at += batch) await apply(events.slice(at, at + batch));
      at = events.length;
    } catch (error) {
      if (!(error instanceof LeaderFailed)) throw error;
    }
  }
}
