/** Coalesces concurrent reads of the same items. */

interface Item {
  readonly key: string;
}

/** Wraps `read`, which returns values by key. A failure rejects all callers waiting for it. */
export function createSharedReads<Key extends Item, Value>(
  read: (some: readonly Key[]) => Promise<ReadonlyMap<string, Value>>,
): (some: readonly Key[]) => Promise<ReadonlyMap<string, Value>> {
  const inFlight = new Map<string, Promise<ReadonlyMap<string, Value>>>();

  function startRead(some: readonly Key[]) {
    const reading = read(some).finally(() => {
      for (const { key } of some) inFlight.delete(key);
    });
    for (const { key } of some) inFlight.set(key, reading);
  }

  return async (some) => {
    const missing = some.filter(({ key }) => !inFlight.has(key));
    if (missing.length > 0) startRead(missing);
    const found = new Map<string, Value>();
    const readings = new Set(some.map(({ key }) => inFlight.get(key)!));
    const keys = new Set(some.map(({ key }) => key));
    for (const reading of await Promise.all(readings))
      for (const [key, value] of reading) if (keys.has(key)) found.set(key, value);
    return found;
  };
}
