/** Reads that many want at once: each thing is read once, and all who ask for it meanwhile are told the same. */

interface Keyed {
  readonly key: string;
}

/** `read` answers by key what it finds of some. Rejects with what it rejects, for all who wait for it. */
export function createSharedReads<Asked extends Keyed, Value>(
  read: (some: readonly Asked[]) => Promise<ReadonlyMap<string, Value>>,
): (some: readonly Asked[]) => Promise<ReadonlyMap<string, Value>> {
  const underWay = new Map<string, Promise<ReadonlyMap<string, Value>>>();

  function begin(some: readonly Asked[]) {
    const reading = read(some).finally(() => {
      for (const { key } of some) underWay.delete(key);
    });
    for (const { key } of some) underWay.set(key, reading);
  }

  return async (some) => {
    const missing = some.filter(({ key }) => !underWay.has(key));
    if (missing.length > 0) begin(missing);
    const found = new Map<string, Value>();
    const readings = new Set(some.map(({ key }) => underWay.get(key)!));
    const wanted = new Set(some.map(({ key }) => key));
    for (const reading of await Promise.all(readings))
      for (const [key, value] of reading) if (wanted.has(key)) found.set(key, value);
    return found;
  };
}
