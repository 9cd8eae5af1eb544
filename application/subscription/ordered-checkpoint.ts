/** Work on events that may end in another order than it began: how far into the log all of it is done. */
import type { Position } from '../ports/index.js';

export interface SideBySide {
  /**
   * Begins the work on the event at a position, later than all before. Resolves when that is done, or has stepped aside
   * and there is room for another; rejects with what any work has rejected with.
   */
  begin(position: Position, work: (release: () => void) => Promise<void>): Promise<void>;
  /** There is nothing more to begin up to here. */
  reach(position: Position): void;
  /** All up to here is done; never beyond what was rejected. */
  lowWatermark(): Position;
  /** When all that was begun has ended; rejects with what any of it has rejected with. */
  ended(): Promise<void>;
}

/** `most` pieces that have stepped aside; `done` is told of each of these that is. */
export function createConcurrentProcessor(from: Position, most: number, done: () => void): SideBySide {
  let reached = from;
  /** Under way or rejected, in the order of the log: what was reached before. */
  const before = new Map<Promise<void>, Position>();
  let failure: { readonly error: unknown } | undefined;
  let freed = () => {};

  function look() {
    if (failure) throw failure.error;
  }

  return {
    async begin(position, work) {
      look();
      let isAside = false;
      let onward = () => {};
      const stepped = new Promise<void>((resolve) => {
        onward = resolve;
      });
      const release = () => {
        isAside = true;
        onward();
      };
      const piece: Promise<void> = work(release)
        .then(
          () => {
            before.delete(piece);
            if (isAside) done();
          },
          (error: unknown) => {
            failure ??= { error };
          },
        )
        .then(() => {
          onward();
          freed();
        });
      before.set(piece, reached);
      reached = position;
      await stepped;
      if (!failure && before.size >= most)
        await new Promise<void>((resolve) => {
          freed = resolve;
        });
      look();
    },
    reach(position) {
      reached = position;
    },
    lowWatermark: () => before.values().next().value ?? reached,
    async ended() {
      await Promise.all(before.keys());
      look();
    },
  };
}
