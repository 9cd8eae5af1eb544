/** Single-flight and batch loader: coalesce concurrent lookups, so that load does not grow with the number of callers. */

/**
 * Creates a function that runs a lookup by name, which callers that arrive meanwhile share. For results that are not
 * outdated by the time they arrive.
 */
export function createSingleFlight() {
  const flights = new Map<string, Promise<unknown>>();
  return <Found>(name: string, lookUp: () => Promise<Found>): Promise<Found> => {
    const flight = flights.get(name) ?? lookUp().finally(() => flights.delete(name));
    flights.set(name, flight);
    return flight as Promise<Found>;
  };
}

/**
 * Creates a single-flight for lookups in batches. Each item is looked up by one running call of `lookUp`; its failure
 * rejects all callers that share it.
 */
export function createBatchFlight<Item extends { readonly key: string }, Found>(
  lookUp: (items: readonly Item[]) => Promise<ReadonlyMap<string, Found>>,
) {
  const singleFlight = createSingleFlight();
  return async (items: readonly Item[]): Promise<ReadonlyMap<string, Found>> => {
    const missing: Item[] = [];
    let batch: Promise<ReadonlyMap<string, Found>> | undefined;
    const lookUpOne = (item: Item) => () => {
      missing.push(item);
      // Starts once all missing items are known.
      batch ??= Promise.resolve(missing).then(lookUp);
      return batch.then((found) => [item.key, found.get(item.key)] as const);
    };
    const entries = await Promise.all(items.map((item) => singleFlight(item.key, lookUpOne(item))));
    return new Map(entries.flatMap(([key, found]) => (found === undefined ? [] : [[key, found]])));
  };
}

/** `isShared`: other callers may receive the result. */
type LookUp<Found> = (isShared: boolean) => Promise<Found>;

interface Flight {
  readonly running: Promise<unknown>;
  /** Starts after `running`, for all callers that arrived meanwhile. */
  next?: Promise<unknown>;
}

/**
 * Creates a function that runs a lookup by name. Callers that arrive during a lookup share the next one, because the
 * running one may return data older than their call. At most one lookup per name runs at a time, and no caller waits
 * for more than two.
 */
export function createFreshSingleFlight() {
  const flights = new Map<string, Flight>();

  function start<Found>(name: string, lookUp: LookUp<Found>, isShared: boolean): Promise<Found> {
    const running = lookUp(isShared);
    const flight: Flight = { running };
    flights.set(name, flight);
    const land = () => {
      if (!flight.next) flights.delete(name);
    };
    running.then(land, land);
    return running;
  }

  return <Found>(name: string, lookUp: LookUp<Found>): Promise<Found> => {
    const flight = flights.get(name);
    if (!flight) return start(name, lookUp, false);
    const next = () => start(name, lookUp, true);
    flight.next ??= flight.running.then(next, next);
    return flight.next as Promise<Found>;
  };
}

const MAX_BATCH_SIZE = 1000;

/**
 * Creates a batch loader: a lookup by name that combines the calls of one round of the event loop into one query.
 *
 * @param loadBatch Loads the distinct names of a batch; its rejection rejects every lookup of the batch.
 */
export function createBatchLoader<Found>(
  loadBatch: (names: ReadonlySet<string>) => Promise<ReadonlyMap<string, Found>>,
): (name: string) => Promise<Found | undefined> {
  let names = new Set<string>();
  let pending: Promise<ReadonlyMap<string, Found>> | undefined;

  const load = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    const batch = names;
    [names, pending] = [new Set(), undefined];
    return loadBatch(batch);
  };

  return async (name) => {
    // Never joins a batch that has started: its answer may be older than this lookup.
    while (names.size >= MAX_BATCH_SIZE) await pending?.catch(() => {});
    names.add(name);
    pending ??= load();
    return (await pending).get(name);
  };
}
