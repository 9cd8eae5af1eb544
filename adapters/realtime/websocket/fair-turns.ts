/** Much that is said at once, over many connections: answered a part at a time, so that nobody else waits for all of it. */

/** So much is answered before the event loop goes round once: some tens of milliseconds of work. */
const TURN_WEIGHT = 1024 * 1024;

let weighed = 0;
const waiting: { readonly weight: number; readonly go: () => void }[] = [];

/** To be asked before something of this weight is answered: undefined at once, or when it is its turn. */
export function turnFor(weight: number): Promise<void> | undefined {
  weighed += weight;
  if (waiting.length === 0 && weighed <= TURN_WEIGHT) return undefined;
  return new Promise((go) => {
    if (waiting.push({ weight, go }) === 1) setImmediate(next);
  });
}

/** Who says one thing after the other comes behind those who wait. */
function next() {
  weighed = 0;
  do {
    const { weight, go } = waiting.shift()!;
    weighed += weight;
    go();
  } while (waiting[0] && weighed + waiting[0].weight <= TURN_WEIGHT);
  if (waiting[0]) setImmediate(next);
}
