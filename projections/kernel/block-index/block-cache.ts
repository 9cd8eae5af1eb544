/** Values decoded from blocks (filters, contents): read in batches, shared by concurrent readers, and cached. */
import { LRUCache } from 'lru-cache';
import { createBatchFlight } from '../../../application/concurrency/index.js';
import type { Cache } from '../../../application/ports/index.js';

export interface BlockVersion {
  /** Identifies the block, in whichever version. */
  readonly key: string;
  /** Changes with the block. */
  readonly version: string;
}

export interface BlockCacheOptions<Block extends BlockVersion, Value> {
  readonly name: string;
  readonly limitBytes: number;
  readonly sizeOf: (value: Value) => number;
  /** A scan larger than the cache evicts only some of what is cached. */
  readonly scanResistant?: true;
  /** Values by the blocks' keys; blocks without a value are missing. */
  readonly load: (blocks: readonly Block[]) => Promise<ReadonlyMap<string, Value>>;
}

interface Entry<Value> {
  readonly version: string;
  readonly value: Value;
}

/** Bytes of an entry in memory, besides its key and value. */
const ENTRY_BYTES = 200;
/** A full cache that resists scans admits one of this many new blocks. */
const BLOCKS_PER_ADMISSION = 8;

export function createBlockCache<Block extends BlockVersion, Value extends object>({
  name,
  limitBytes,
  sizeOf,
  scanResistant,
  load,
}: BlockCacheOptions<Block, Value>) {
  const entries = new LRUCache<string, Entry<Value>>({ maxSize: limitBytes });
  let overflow = 0;

  function admit({ key, version }: Block, value: Value) {
    const size = sizeOf(value) + key.length + ENTRY_BYTES;
    const isAdmitted = !scanResistant || entries.calculatedSize + size <= limitBytes || entries.has(key);
    if (isAdmitted || ++overflow % BLOCKS_PER_ADMISSION === 0) entries.set(key, { version, value }, { size });
  }

  const loadBatch = createBatchFlight(async (items: readonly { readonly key: string; readonly block: Block }[]) => {
    const loaded = await load(items.map(({ block }) => block));
    const found = new Map<string, Value>();
    for (const { key, block } of items) {
      const value = loaded.get(block.key);
      if (!value) continue;
      admit(block, value);
      found.set(key, value);
    }
    return found;
  });

  function getCached({ key, version }: Block): Value | undefined {
    const entry = entries.get(key);
    return entry?.version === version ? entry.value : undefined;
  }

  return {
    cache: { name, limitBytes, bytes: () => entries.calculatedSize } satisfies Cache,

    /** The value of each block, in the given order; undefined where there is none. */
    async read(blocks: readonly Block[]): Promise<readonly (Value | undefined)[]> {
      const found = blocks.map(getCached);
      if (!found.includes(undefined)) return found;
      const versionKey = ({ key, version }: Block) => `${key} ${version}`;
      const missing = blocks.filter((_, index) => !found[index]);
      const loaded = await loadBatch(missing.map((block) => ({ key: versionKey(block), block })));
      return blocks.map((block, index) => found[index] ?? loaded.get(versionKey(block)));
    },
  };
}
