/** Much that is said at once, over many connections: answered a part at a time, so that nobody else waits for all of it. */

/** So much is answered before the event loop goes round once: some tens of milliseconds of work. */
const TURN_BYTES = 1024 * 1024;

let bytes = 0;
let next: Promise<void> | undefined;

/** To be asked before so many bytes are answered: undefined at once, or when the event loop has gone round. */
export function turnFor(amount: number): Promise<void> | undefined {
  bytes += amount;
  if (bytes <= TURN_BYTES) return undefined;
  next ??= new Promise((resolve) => {
    setImmediate(() => {
      bytes = 0;
      next = undefined;
      resolve();
    });
  });
  return next;
}
