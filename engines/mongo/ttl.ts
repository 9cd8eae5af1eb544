/** Deletes documents expired by indexes with `expireAfterSeconds`. */
import { toValue } from './bson/encode.js';
import { changeAll } from './commands/change.js';
import type { Engine } from './commands/engine.js';
import type { Filter } from './query/filter.js';
import { queryOf } from './query/scan.js';
import type { Collection } from './storage/collection.js';
import type { Index } from './storage/definition.js';

/** Runs one pass over all TTL indexes. */
export async function expire(engine: Engine, now = Date.now()): Promise<void> {
  for (const collection of [...engine.catalog.collections.values()])
    for (const index of collection.indexes)
      if (index.ready && index.expireAfterSeconds !== undefined) await expireBy(engine, collection, index, now);
}

async function expireBy(engine: Engine, { namespace }: Collection, index: Index, now: number): Promise<void> {
  const path = index.paths[0]!;
  const limit = now - index.expireAfterSeconds! * 1000;
  const old: Filter = { kind: 'lte', path, operand: toValue(new Date(limit)) };
  const query = queryOf(old);
  const deletion = changeAll({ engine, namespace, query }, (collection, { idKey, document }) => {
    engine.documents.remove(collection, idKey, document);
    return { n: 1, nModified: 0 };
  });
  await deletion.runInSteps((run) => run());
}
