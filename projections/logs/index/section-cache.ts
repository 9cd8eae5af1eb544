/** Reads the sections of full blocks on demand, and caches decoded pieces. */
import { LRUCache } from 'lru-cache';
import type { Db } from 'mongodb';
import { createBatchLoader } from '../../../application/concurrency/index.js';
import { entryText } from '../../../application/logs/query/render-page.js';
import type { Block, Column, Needs, Values } from '../../../application/logs/record-index.js';
import type { Vault } from '../../../application/ports/index.js';
import { type IdentifiedRecord, parseRecord } from '../../../domain/logs/record.js';
import { assertBuildExists, type BlockVersion, createBlockCache } from '../../kernel/index.js';
import { decryptAndInflate } from './compress-and-seal.js';
import { type BlockRef, rowsIn, type StoredSections } from './rows.js';
import { sectionsId } from './seal-block.js';
import {
  chunkPiece,
  type DecodedChunk,
  type DecryptedSections,
  INSTANTS_PIECE,
  type Piece,
  PLACES_PIECE,
  valuesPiece,
} from './section-codec.js';
import { createSectionNames, KINDS, type Kind } from './sections.js';

const CACHE_BYTES = 16 * 1024 * 1024;
/** Builds with a batch loader. */
const MAX_BUILDS = 10;
/** Memory of a decoded piece relative to its section's bytes, and per record, also of a field that is missing. */
const MEMORY_FACTOR = 3;
const RECORD_BYTES = 4;

export const ALL: Needs = { instants: true, places: true, records: true };

interface PieceRef extends BlockVersion {
  readonly ref: BlockRef;
  readonly piece: Piece<unknown>;
}

interface DecodedPiece {
  readonly value: unknown;
  readonly size: number;
}

export function createSectionCache(db: Db, vault: Vault) {
  const loaders = new LRUCache<string, (key: string) => Promise<StoredSections | undefined>>({ max: MAX_BUILDS });

  /** Reads the sections that are needed in the same round of the event loop together. */
  function createLoader(name: string) {
    const rows = rowsIn(db, name, 'sections');
    return createBatchLoader<StoredSections>(async (keys) => {
      const requests = Array.from(keys, (key) => ({ key, id: key.split(' ', 1)[0]!, names: key.split(' ').slice(1) }));
      const names = new Set(requests.flatMap((each) => each.names));
      const projection = Object.fromEntries(Array.from(names, (each) => [`sections.${each}`, 1]));
      const found = await rows.find({ _id: { $in: requests.map(({ id }) => id) } }, { projection }).toArray();
      if (found.length === 0) await assertBuildExists(db, name);
      const byId = new Map(found.map(({ _id, sections }) => [_id, sections]));
      return new Map(requests.flatMap(({ key, id }) => (byId.has(id) ? [[key, byId.get(id)!]] : [])));
    });
  }

  function readSealed({ name, header }: BlockRef, kind: Kind, sections: readonly string[]) {
    const load = loaders.get(name) ?? createLoader(name);
    loaders.set(name, load);
    return load([sectionsId(header._id, kind), ...sections].join(' '));
  }

  /** Decrypted sections of a block, as far as they exist; undefined when the block or its key is gone. */
  async function decryptSections(ref: BlockRef, kind: Kind, sections: readonly string[]) {
    const stored = await readSealed(ref, kind, sections);
    if (!stored) return undefined;
    const decrypted = new Map<string, Buffer | true>();
    for (const each of sections) {
      const sealed = stored[each];
      if (sealed === undefined) continue;
      const bytes = sealed === true ? sealed : await decryptAndInflate(vault, ref.header.subject, sealed);
      if (bytes === undefined) return undefined;
      decrypted.set(each, bytes);
    }
    return decrypted;
  }

  const pieces = createBlockCache<PieceRef, DecodedPiece>({
    name: 'logs.sections',
    limitBytes: CACHE_BYTES,
    sizeOf: ({ size }) => size,
    /** Decodes pieces of one block. */
    async load(requested) {
      const decoded = new Map<string, DecodedPiece>();
      const { ref } = requested[0]!;
      await Promise.all(
        KINDS.map(async (kind) => {
          const batch = requested.filter(({ piece }) => piece.kind === kind);
          if (batch.length === 0) return;
          const names = [...new Set(batch.flatMap(({ piece }) => piece.sections))];
          const sections = await decryptSections(ref, kind, names);
          if (!sections) return;
          for (const { key, piece } of batch)
            decoded.set(key, {
              value: piece.read(sections),
              size: sizeOf(piece, sections, ref.header.count),
            });
        }),
      );
      return decoded;
    },
  });

  /** Undefined when the block or its key is deleted; `needs-records` if columns are missing, so records are needed. */
  async function open(ref: BlockRef, needs: Needs): Promise<Block | 'needs-records' | undefined> {
    const { header } = ref;
    const { count } = header;
    const names = await createSectionNames(vault, header.subject);
    if (!names) return undefined;
    const columns = (needs.columns ?? []).map((column) => valuesPiece(column, names, count));
    const cached = columns.filter((piece) => piece !== undefined);
    const neededChunks = chunksWith(needs.records, ref);
    const needed = [
      ...(needs.instants || neededChunks.length > 0 ? [INSTANTS_PIECE] : []),
      ...(needs.places || neededChunks.length > 0 ? [PLACES_PIECE] : []),
      ...cached,
      ...neededChunks.map(chunkPiece),
    ];
    // The sections of a full block never change.
    const keyOf = ({ key }: Piece<unknown>) => `${ref.name} ${header._id} ${key}`;
    const decoded = await pieces.read(needed.map((piece) => ({ ref, piece, key: keyOf(piece), version: '' })));
    if (decoded.includes(undefined)) return undefined;
    const values = new Map(needed.map(({ key }, index) => [key, decoded[index]!.value]));
    // Values without a column can only be read from the records.
    const isIncomplete = cached.length < columns.length || cached.some(({ key }) => values.get(key) === undefined);
    if (isIncomplete && needs.records !== true) return 'needs-records';
    return blockOf(ref, values, (column) => {
      const piece = valuesPiece(column, names, count);
      return piece && (values.get(piece.key) as Values | undefined);
    });
  }

  return {
    open,
    cache: pieces.cache,
  };
}

const sizeOf = ({ sections: names }: Piece<unknown>, sections: DecryptedSections, count: number): number =>
  names.reduce((sum, name) => {
    const bytes = sections.get(name);
    return sum + (bytes instanceof Buffer ? MEMORY_FACTOR * bytes.length : 0);
  }, RECORD_BYTES * count);

function chunksWith(records: Needs['records'], { header, chunks }: BlockRef): readonly number[] {
  if (!records) return [];
  if (records === true) return chunks ?? [...header.chunks.keys()];
  return [...new Set(records.map((index) => chunkOf(index, header.chunks)))];
}

const chunkOf = (index: number, chunks: readonly number[]): number => chunks.findLastIndex((start) => start <= index);

function blockOf(
  { header }: BlockRef,
  pieces: ReadonlyMap<string, unknown>,
  values: (column: Column) => Values | undefined,
): Block {
  const { count, producerId, audit, chunks } = header;
  const piece = <Value>({ key }: Piece<Value>): Value => {
    if (!pieces.has(key)) throw new Error(`${key} of the block was not read`);
    return pieces.get(key) as Value;
  };
  const times = pieces.has(INSTANTS_PIECE.key) ? piece(INSTANTS_PIECE) : undefined;
  const places = () => piece(PLACES_PIECE);
  let current: DecodedChunk & { readonly nth: number; readonly start: number } = {
    nth: 0,
    start: 0,
    text: '',
    lines: [],
  };
  const chunkWith = (index: number) => {
    // Mostly records of one chunk follow one another.
    if (current.lines[index - current.start] === undefined) {
      const nth = chunkOf(index, chunks);
      current = { nth, start: chunks[nth]!, ...piece(chunkPiece(nth)) };
    }
    return current;
  };
  const line = (index: number) => {
    const { start, lines } = chunkWith(index);
    return lines[index - start]!;
  };
  const record = (index: number): IdentifiedRecord => ({
    ...parseRecord(line(index), producerId, times!.instants[index]!),
    id: places().id(index),
  });
  return {
    producerId,
    audit,
    order: times?.order ?? Array.from({ length: count }, (_, index) => index),
    instant: (index) => piece(INSTANTS_PIECE).instants[index]!,
    level: (index) => record(index).level,
    id: (index) => places().id(index),
    size: (index) => places().size(index),
    testTexts(test) {
      const passing: boolean[] = [];
      return (index) => {
        const { nth, text } = chunkWith(index);
        passing[nth] ??= test(text);
        return passing[nth] && test(line(index));
      };
    },
    record,
    entry: (index) => entryText(record(index), line(index)),
    values,
  };
}
