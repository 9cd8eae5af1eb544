/** Loads and decrypts sections of blocks; batches requests made in the same round of the event loop. */
import { LRUCache } from 'lru-cache';
import { Binary, type Collection } from 'mongodb';
import { createBatchLoader } from '../../../application/concurrency/index.js';
import type { Vault } from '../../../application/ports/index.js';
import { decryptAndInflate } from './compress-and-seal.js';
import { sectionsCollection } from './partitions.js';
import type { BlockRef, SectionsRow } from './rows.js';
import { sectionsId } from './seal-block.js';
import type { DecryptedSections } from './section-codec.js';
import type { Kind } from './sections.js';

/** Queries with a batch loader in memory. */
const MAX_LOADERS = 1000;

type StoredSections = SectionsRow['sections'];

export type SectionLoader = ReturnType<typeof createSectionLoader>;

export function createSectionLoader(rowsOf: (name: string) => Collection<SectionsRow>, vault: Vault) {
  const loaders = new LRUCache<string, (id: string) => Promise<StoredSections | undefined>>({ max: MAX_LOADERS });

  const createLoader = (collection: string, names: readonly string[]) =>
    createBatchLoader(async (ids) => {
      const projection = Object.fromEntries(names.map((name) => [`sections.${name}`, 1]));
      const rows = await rowsOf(collection)
        .find({ _id: { $in: [...ids] } }, { projection })
        .toArray();
      return new Map(rows.map(({ _id, sections }) => [_id, sections]));
    });

  function load({ name, part, header }: BlockRef, kind: Kind, names: readonly string[]) {
    const collection = `${name}.${sectionsCollection(part.name)}`;
    const key = `${collection} ${names.join(' ')}`;
    const loader = loaders.get(key) ?? createLoader(collection, names);
    loaders.set(key, loader);
    return loader(sectionsId(header._id, kind));
  }

  return {
    /** Decrypted sections of a block, as far as they exist; undefined when the block or its key is gone. */
    async sections(block: BlockRef, kind: Kind, names: readonly string[]): Promise<DecryptedSections | undefined> {
      const stored = await load(block, kind, names);
      if (!stored) return undefined;
      const decrypted = new Map<string, Buffer | true>();
      for (const [name, section] of Object.entries(stored)) {
        const bytes =
          section instanceof Binary ? await decryptAndInflate(vault, block.header.subject, section) : section;
        if (bytes === undefined) return undefined;
        decrypted.set(name, bytes);
      }
      return decrypted;
    },
  };
}
