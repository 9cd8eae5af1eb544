/** Fetches sections of blocks: those that are asked for at the same time come together, and only they are opened. */
import { Binary, type Collection } from 'mongodb';
import type { Vault } from '../../../application/ports/index.js';
import type { BlockRef } from './block-ref.js';
import { openPacked } from './compress-and-seal.js';
import { sectionsIn } from './partitions.js';
import type { SectionsRow } from './rows.js';
import { sectionsId } from './seal-block.js';
import type { OpenSections } from './section-codec.js';
import type { Kind } from './sections.js';

/** Of blocks, in one answer of the store. */
const MOST_AT_ONCE = 512;

/** A section as its row has it. */
type Sealed = SectionsRow['sections'];

interface Waiting {
  readonly id: string;
  readonly found: (sections: Sealed | undefined) => void;
  readonly failed: (error: unknown) => void;
}

export interface Fetching {
  /**
   * Sections of a block that are there, opened; one that says the same as another in its place. Undefined when the
   * block, or its key, has gone.
   */
  sections(block: BlockRef, kind: Kind, names: readonly string[]): Promise<OpenSections | undefined>;
}

/** `rowsOf`: the collection of a name. */
export function createFetching(rowsOf: (name: string) => Collection<SectionsRow>, vault: Vault): Fetching {
  let waiting = new Map<
    string,
    { readonly collection: string; readonly names: readonly string[]; readonly all: Waiting[] }
  >();

  /** All that is asked for in one round of the event loop. */
  function ask({ name, part, header }: BlockRef, kind: Kind, names: readonly string[]) {
    return new Promise<Sealed | undefined>((found, failed) => {
      const collection = `${name}.${sectionsIn(part.name)}`;
      const key = `${collection} ${kind} ${names.join(' ')}`;
      const one = waiting.get(key) ?? { collection, names, all: [] };
      if (waiting.size === 0) setImmediate(flush);
      waiting.set(key, one);
      one.all.push({ id: sectionsId(header._id, kind), found, failed });
    });
  }

  function flush() {
    const groups = [...waiting.values()];
    waiting = new Map();
    for (const { collection, names, all } of groups)
      for (let from = 0; from < all.length; from += MOST_AT_ONCE)
        void fetch(collection, names, all.slice(from, from + MOST_AT_ONCE));
  }

  async function fetch(collection: string, names: readonly string[], all: readonly Waiting[]) {
    try {
      const projection = Object.fromEntries(names.map((name) => [`sections.${name}`, 1]));
      const rows = await rowsOf(collection)
        .find({ _id: { $in: all.map(({ id }) => id) } }, { projection })
        .toArray();
      const found = new Map(rows.map(({ _id, sections }) => [_id, sections]));
      for (const each of all) each.found(found.get(each.id));
    } catch (error) {
      for (const { failed } of all) failed(error);
    }
  }

  return {
    async sections(block, kind, names) {
      const { subject } = block.header;
      const sealed = await ask(block, kind, names);
      if (!sealed) return undefined;
      const others = names.flatMap((name) => {
        const section = sealed[name];
        return typeof section === 'string' && !(section in sealed) ? [section] : [];
      });
      const more = others.length > 0 ? await ask(block, kind, others) : {};
      if (!more) return undefined;
      const all: Sealed = { ...more, ...sealed };
      const opened = new Map<string, Buffer | true>();
      for (const name of names) {
        const section = all[name];
        const own = typeof section === 'string' ? all[section] : section;
        const bytes = own instanceof Binary ? await openPacked(vault, subject, own) : own;
        // Its key has gone.
        if (own !== undefined && bytes === undefined) return undefined;
        if (bytes !== undefined && typeof bytes !== 'string') opened.set(name, bytes);
      }
      return opened;
    },
  };
}
