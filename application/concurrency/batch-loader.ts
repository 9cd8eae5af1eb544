/** Batch loader: combines lookups made in the same round of the event loop into one query. */

const MAX_BATCH_SIZE = 1000;

/**
 * Returns a lookup by name.
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
