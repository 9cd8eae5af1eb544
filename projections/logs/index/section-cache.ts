/** Reads the sections of full blocks on demand, and caches decoded pieces. */
import { LRUCache } from 'lru-cache';
import { entryText } from '../../../application/logs/query/render-page.js';
import type { Block, Column, Needs, Values } from '../../../application/logs/record-index.js';
import type { Vault } from '../../../application/ports/index.js';
import { type IdentifiedRecord, parseRecord } from '../../../domain/logs/record.js';
import { type BlockVersion, createBlockCache } from '../../kernel/index.js';
import type { BlockRef } from './rows.js';
import {
  chunkPiece,
  type DecryptedSections,
  INSTANTS_PIECE,
  type Piece,
  PLACES_PIECE,
  valuesPiece,
} from './section-codec.js';
import type { SectionLoader } from './section-loader.js';
import { createSectionNames, KINDS, type Names } from './sections.js';

const CACHE_BYTES = 16 * 1024 * 1024;
/** Producer-days with cached column names. */
const MAX_CACHED_SUBJECTS = 500;
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

export function createSectionCache(vault: Vault, sectionLoader: SectionLoader) {
  const namesBySubject = new LRUCache<string, Names>({ max: MAX_CACHED_SUBJECTS });

  async function getNames(subject: string): Promise<Names | undefined> {
    const cached = namesBySubject.get(subject);
    if (cached) return cached;
    const names = await createSectionNames(vault, subject);
    if (names) namesBySubject.set(subject, names);
    return names;
  }

  const pieces = createBlockCache<PieceRef, DecodedPiece>({
    name: 'logs.sections',
    limitBytes: CACHE_BYTES,
    sizeOf: ({ size }) => size,
    /** Decodes pieces of one block. */
    async load(requested) {
      const decoded = new Map<string, DecodedPiece>();
      await Promise.all(
        KINDS.map(async (kind) => {
          const batch = requested.filter(({ piece }) => piece.kind === kind);
          if (batch.length === 0) return;
          const names = [...new Set(batch.flatMap(({ piece }) => piece.sections))];
          const sections = await sectionLoader.sections(requested[0]!.ref, kind, names);
          if (!sections) return;
          for (const { key, piece } of batch)
            decoded.set(key, {
              value: piece.read(sections),
              size: sizeOf(piece, sections, requested[0]!.ref.header.count),
            });
        }),
      );
      return decoded;
    },
  });

  /** Values by the pieces' keys; undefined when the block or its key is deleted. */
  async function read(ref: BlockRef, requested: readonly Piece<unknown>[]) {
    const { name, part, header } = ref;
    const refs = requested.map((piece) => {
      // The sections of a full block never change.
      const key = `${name} ${part.name} ${header._id} ${piece.key}`;
      return { ref, piece, key, version: '' };
    });
    const decoded = await pieces.read(refs);
    if (decoded.includes(undefined)) return undefined;
    return new Map(requested.map(({ key }, index) => [key, decoded[index]!.value]));
  }

  /** Undefined when the block or its key is deleted; `needs-records` if columns are missing, so records are needed. */
  async function open(ref: BlockRef, needs: Needs): Promise<Block | 'needs-records' | undefined> {
    const { header } = ref;
    const { count, chunks = [] } = header;
    const names = await getNames(header.subject);
    if (!names) return undefined;
    const columns = (needs.columns ?? []).map((column) => valuesPiece(column, names, count));
    const cached = columns.filter((piece) => piece !== undefined);
    const neededChunks = chunksWith(needs.records, chunks);
    const values = await read(ref, [
      ...(needs.instants || header.over || neededChunks.length > 0 ? [INSTANTS_PIECE] : []),
      ...(needs.places || neededChunks.length > 0 ? [PLACES_PIECE] : []),
      ...cached,
      ...neededChunks.map(chunkPiece),
    ]);
    if (!values) return undefined;
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

function chunksWith(records: Needs['records'], chunks: readonly number[]): readonly number[] {
  if (!records) return [];
  if (records === true) return chunks.map((_, chunk) => chunk);
  return [...new Set(records.map((index) => chunkOf(index, chunks)))];
}

const chunkOf = (index: number, chunks: readonly number[]): number => chunks.findLastIndex((start) => start <= index);

function blockOf(
  { header, part }: BlockRef,
  pieces: ReadonlyMap<string, unknown>,
  values: (column: Column) => Values | undefined,
): Block {
  const { count, producerId, chunks = [], over } = header;
  const piece = <Value>({ key }: Piece<Value>): Value => {
    if (!pieces.has(key)) throw new Error(`${key} of the block was not read`);
    return pieces.get(key) as Value;
  };
  const instants = pieces.has(INSTANTS_PIECE.key) ? piece(INSTANTS_PIECE) : undefined;
  const order = orderOf(count, instants);
  const places = () => piece(PLACES_PIECE);
  const line = (index: number) => {
    const chunk = chunkOf(index, chunks);
    return piece(chunkPiece(chunk))[index - chunks[chunk]!]!;
  };
  const record = (index: number): IdentifiedRecord => ({
    ...parseRecord(line(index), producerId, instants![index]!),
    id: places().id(index),
  });
  return {
    producerId,
    audit: part.audit,
    order: over ? order.filter((index) => instants![index]! >= over.before) : order,
    instant: (index) => piece(INSTANTS_PIECE)[index]!,
    level: (index) => record(index).level,
    id: (index) => places().id(index),
    size: (index) => places().size(index),
    line,
    record,
    entry: (index) => entryText(record(index), line(index)),
    values,
  };
}

/** Ids increase within a block, so records of equal instants are already ordered. */
function orderOf(count: number, instants: readonly number[] | undefined): readonly number[] {
  if (!instants?.some((instant, index) => instant < instants[index - 1]!)) return identityOrder(count);
  return [...identityOrder(count)].sort((a, b) => instants[a]! - instants[b]! || a - b);
}

/** Cache of the last identity order: most blocks have the same length. */
let identity: readonly number[] = [];

function identityOrder(count: number): readonly number[] {
  if (identity.length !== count) identity = Array.from({ length: count }, (_, index) => index);
  return identity;
}
