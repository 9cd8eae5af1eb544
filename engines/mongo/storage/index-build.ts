/** Builds indexes over existing documents in slices, while writers maintain them. */
import { CommandError } from '../errors.js';
import type { Catalog } from './catalog.js';
import type { Collection, Documents } from './collection.js';
import type { Index } from './definition.js';
import { spaceEnd } from './layout.js';

/** Maximum milliseconds one transaction of a build occupies the event loop. */
const SLICE_MS = 8;
const PAGE = 64;

/** Errors: 11000 for duplicates, 171, 26 if the collection is dropped meanwhile; then none of the indexes exists. */
export async function buildIndexes(
  catalog: Catalog,
  documents: Documents,
  collection: Collection,
  indexes: readonly Index[],
): Promise<void> {
  const { store } = catalog;
  await catalog.startIndexes(collection, indexes);
  try {
    let after: Buffer | undefined;
    await store.write(() => {
      const until = performance.now() + SLICE_MS;
      while (performance.now() < until) {
        if (collection.dropped) throw new CommandError(26, `ns not found ${collection.namespace}`);
        const range = { low: collection.head, high: spaceEnd(collection.head), limit: PAGE, after };
        const page = [...documents.entries(collection, range)];
        for (const { key, document } of page) {
          for (const index of indexes) documents.addToIndex(collection, index, document);
          after = key;
        }
        if (page.length < PAGE) return true;
      }
      return false;
    });
    await catalog.finishIndexes(collection, indexes);
  } catch (error) {
    catalog.abandonIndexes(collection, indexes);
    throw error;
  }
}
