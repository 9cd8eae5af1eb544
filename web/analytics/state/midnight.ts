/** Detects UTC midnight by the service's clock, to refresh periods that end today in pages left open. */

const CHECK_MS = 20_000;
const DAY_MS = 86_400_000;

/**
 * Calls `onMidnight` after midnight, repeatedly, until the returned function is called with the time of a newer report
 * (ISO 8601).
 */
export function watchMidnight(onMidnight: () => void): (countedAt: string) => void {
  /** Unix ms by the browser's clock. Compared periodically, which also works after a suspended machine wakes. */
  let nextMidnight = Number.POSITIVE_INFINITY;
  setInterval(() => Date.now() >= nextMidnight && onMidnight(), CHECK_MS);
  return (countedAt) => {
    nextMidnight = Date.now() + DAY_MS - (Date.parse(countedAt) % DAY_MS);
  };
}
