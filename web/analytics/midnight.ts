/** The turn of the day in UTC, by the service's clock: for what says "up to today", and is left open over night. */

const EVERY_MS = 20_000;
const DAY_MS = 86_400_000;

/** `turned` is told again and again, until what is returned is told of something that was counted after it (ISO 8601). */
export function watchMidnight(turned: () => void): (countedAt: string) => void {
  /** By our own clock, ms: a machine that slept over it notices as it wakes. */
  let turnsAt = Number.POSITIVE_INFINITY;
  setInterval(() => Date.now() >= turnsAt && turned(), EVERY_MS);
  return (countedAt) => {
    turnsAt = Date.now() + DAY_MS - (Date.parse(countedAt) % DAY_MS);
  };
}
