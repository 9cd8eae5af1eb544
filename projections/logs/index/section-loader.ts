/** Loads and decrypts sections of blocks; batches requests made in the same round of the event loop. */
import { Binary, type Collection } from 'mongodb';
import type { Vault } from '../../../application/ports/index.js';
import type { BlockRef } from './block-ref.js';
import { decryptAndInflate } from './compress-and-seal.js';
import { sectionsCollection } from './partitions.js';
import type { SectionsRow } from './rows.js';
import { sectionsId } from './seal-block.js';
import type { DecryptedSections } from './section-codec.js';
import type { Kind } from './sections.js';

/** Blocks per store query. */
const MAX_BATCH = 512;

/** Stored form of sections. */
type StoredSections = SectionsRow['sections'];

interface PendingRead {
  readonly id: string;
  readonly resolve: (sections: StoredSections | undefined) => void;
  readonly reject: (error: unknown) => void;
}

export interface SectionLoader {
  /**
   * Decrypted sections of a block, as far as they exist; references to equal sections are resolved. Undefined when the
   * block or its key is gone.
   */
  sections(block: BlockRef, kind: Kind, names: readonly string[]): Promise<DecryptedSections | undefined>;
}

/** `rowsOf`: returns a collection by name. */
export function createSectionLoader(rowsOf: (name: string) => Collection<SectionsRow>, vault: Vault): SectionLoader {
  let pending = new Map<
    string,
    { readonly collection: string; readonly names: readonly string[]; readonly reads: PendingRead[] }
  >();

  /** Queues a request until the next round of the event loop. */
  function enqueue({ name, part, header }: BlockRef, kind: Kind, names: readonly string[]) {
    return new Promise<StoredSections | undefined>((resolve, reject) => {
      const collection = `${name}.${sectionsCollection(part.name)}`;
      const key = `${collection} ${kind} ${names.join(' ')}`;
      const group = pending.get(key) ?? { collection, names, reads: [] };
      if (pending.size === 0) setImmediate(flush);
      pending.set(key, group);
      group.reads.push({ id: sectionsId(header._id, kind), resolve, reject });
    });
  }

  function flush() {
    const groups = [...pending.values()];
    pending = new Map();
    for (const { collection, names, reads } of groups)
      for (let from = 0; from < reads.length; from += MAX_BATCH)
        void fetch(collection, names, reads.slice(from, from + MAX_BATCH));
  }

  async function fetch(collection: string, names: readonly string[], reads: readonly PendingRead[]) {
    try {
      const projection = Object.fromEntries(names.map((name) => [`sections.${name}`, 1]));
      const rows = await rowsOf(collection)
        .find({ _id: { $in: reads.map(({ id }) => id) } }, { projection })
        .toArray();
      const resolve = new Map(rows.map(({ _id, sections }) => [_id, sections]));
      for (const each of reads) each.resolve(resolve.get(each.id));
    } catch (error) {
      for (const { reject } of reads) reject(error);
    }
  }

  return {
    async sections(block, kind, names) {
      const { subject } = block.header;
      const stored = await enqueue(block, kind, names);
      if (!stored) return undefined;
      const references = names.flatMap((name) => {
        const section = stored[name];
        return typeof section === 'string' && !(section in stored) ? [section] : [];
      });
      const referenced = references.length > 0 ? await enqueue(block, kind, references) : {};
      if (!referenced) return undefined;
      const reads: StoredSections = { ...referenced, ...stored };
      const decrypted = new Map<string, Buffer | true>();
      for (const name of names) {
        const section = reads[name];
        const content = typeof section === 'string' ? reads[section] : section;
        const bytes = content instanceof Binary ? await decryptAndInflate(vault, subject, content) : content;
        // The key is destroyed.
        if (content !== undefined && bytes === undefined) return undefined;
        if (bytes !== undefined && typeof bytes !== 'string') decrypted.set(name, bytes);
      }
      return decrypted;
    },
  };
}
