/** Spreads message handling over event loop ticks, so that many busy connections do not block everything else. */

/** Message cost handled per tick of the event loop: some tens of milliseconds of work. */
const COST_PER_TICK = 1024 * 1024;

let usedCost = 0;
const waiting: { readonly cost: number; readonly start: () => void }[] = [];

/** Reserves a slot for a message of this cost. Undefined if it may be handled now; else resolves when it may. */
export function waitForSlot(cost: number): Promise<void> | undefined {
  usedCost += cost;
  if (waiting.length === 0 && usedCost <= COST_PER_TICK) return undefined;
  return new Promise((start) => {
    if (waiting.push({ cost, start }) === 1) setImmediate(startWaiting);
  });
}

/** Starts the next waiting messages. A connection with several messages queues again for each. */
function startWaiting() {
  usedCost = 0;
  do {
    const { cost, start } = waiting.shift()!;
    usedCost += cost;
    start();
  } while (waiting[0] && usedCost + waiting[0].cost <= COST_PER_TICK);
  if (waiting[0]) setImmediate(startWaiting);
}
