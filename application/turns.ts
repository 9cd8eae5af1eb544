/** Long work in turns: nothing holds the event loop longer than a slice, however many are at work. */

/** Far under the 20 ms that anybody may be kept waiting (docs/bounds.md). */
const SLICE_MS = 8;

const waiting: (() => void)[] = [];
let since = 0;

/** Whether whoever works now has used up its slice. Cheap enough to be asked for every record. */
export const isTurnOver = (): boolean => performance.now() - since > SLICE_MS;

/**
 * Resolves when it is one's turn again. Of all who wait one gets each round of the event loop, in the order they
 * came: were all let on in one round, everybody else would wait for as many slices.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(begin);
  });
}

function begin() {
  since = performance.now();
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(begin);
}

/** For work of which there is only one: a slice of its own in every round, however many wait for a turn. */
export function breather(): () => Promise<void> | undefined {
  let begun = performance.now();
  return () => {
    if (performance.now() - begun <= SLICE_MS) return undefined;
    return new Promise((resolve) => {
      setImmediate(() => {
        begun = performance.now();
        resolve();
      });
    });
  };
}
