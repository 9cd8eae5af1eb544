/** Blocks whose content is in sections, open as far as somebody needs them; a cache of what was read of them. */
import { LRUCache } from 'lru-cache';
import { entryText } from '../../../application/logs/query/query-service.js';
import type { Block, Column, Needs, Values } from '../../../application/logs/record-index.js';
import type { Cache, Vault } from '../../../application/ports/index.js';
import { type IdentifiedRecord, parseRecord } from '../../../domain/logs/record.js';
import type { BlockRef } from './block-ref.js';
import {
  chunkPiece,
  INSTANTS_PIECE,
  type OpenSections,
  type Piece,
  PLACES_PIECE,
  valuesPiece,
} from './section-codec.js';
import type { Fetching } from './section-loader.js';
import { namesOf } from './section-names.js';
import type { Kind, Names } from './sections.js';

/** In bytes: of all that was read of blocks. */
const PIECES_KEPT = 16 * 1024 * 1024;
/** Names of columns are remembered for so many producers' days. */
const SUBJECTS_KEPT = 500;
const PIECE_BYTES = 200;
/** What is read of a section takes about so many times its bytes. */
const TIMES_LARGER = 3;

/** All that a block can be asked for. */
export const ALL: Needs = { instants: true, places: true, records: true };

export interface Apart {
  /** Undefined when the block, or its key, has gone; `untold` where records tell what columns were to, and all must be open. */
  open(located: BlockRef, needs: Needs): Promise<Block | 'untold' | undefined>;
  readonly cache: Cache;
}

interface Read {
  readonly value: unknown;
}

export function createSectionCache(vault: Vault, fetching: Fetching): Apart {
  const kept = new LRUCache<string, Read>({ maxSize: PIECES_KEPT });
  const naming = new LRUCache<string, Names>({ max: SUBJECTS_KEPT });

  async function namesFor(subject: string): Promise<Names | undefined> {
    const known = naming.get(subject);
    if (known) return known;
    const names = await namesOf(vault, subject);
    if (names) naming.set(subject, names);
    return names;
  }

  /** What the pieces say, by their keys; undefined when the block has gone. */
  async function read(located: BlockRef, pieces: readonly Piece<unknown>[]) {
    const { name, part, header } = located;
    const keyOf = ({ key }: Piece<unknown>) => `${name} ${part.name} ${header._id} ${key}`;
    const found = new Map<string, unknown>();
    const missing = new Map<Kind, Piece<unknown>[]>();
    for (const piece of pieces) {
      const known = kept.get(keyOf(piece));
      if (known) found.set(piece.key, known.value);
      else missing.set(piece.kind, [...(missing.get(piece.kind) ?? []), piece]);
    }
    const opened = await Promise.all(
      Array.from(missing, async ([kind, some]) => {
        const names = [...new Set(some.flatMap(({ sections }) => sections))];
        return [some, await fetching.sections(located, kind, names)] as const;
      }),
    );
    for (const [some, sections] of opened) {
      if (!sections) return undefined;
      for (const piece of some) {
        const value = piece.read(sections);
        found.set(piece.key, value);
        kept.set(keyOf(piece), { value }, { size: sizeOf(piece, sections) });
      }
    }
    return found;
  }

  async function open(located: BlockRef, needs: Needs): Promise<Block | 'untold' | undefined> {
    const { header } = located;
    const { count, chunks = [] } = header;
    const names = await namesFor(header.subject);
    if (!names) return undefined;
    const columns = (needs.columns ?? []).map((column) => valuesPiece(column, names, count));
    const known = columns.filter((piece) => piece !== undefined);
    const chunksAsked = chunksFor(needs.records, chunks);
    const pieces: Piece<unknown>[] = [
      ...(needs.instants || header.over || chunksAsked.length > 0 ? [INSTANTS_PIECE] : []),
      ...(needs.places || chunksAsked.length > 0 ? [PLACES_PIECE] : []),
      ...known,
      ...chunksAsked.map(chunkPiece),
    ];
    const found = await read(located, pieces);
    if (!found) return undefined;
    // What no column tells only the records do.
    const untold = known.length < columns.length || known.some(({ key }) => found.get(key) === undefined);
    if (untold && needs.records !== true) return 'untold';
    return blockOf(located, found, (column) => {
      const piece = valuesPiece(column, names, count);
      return piece && (found.get(piece.key) as Values | undefined);
    });
  }

  return {
    open,
    cache: { name: 'logs.sections', limitBytes: PIECES_KEPT, bytes: () => kept.calculatedSize },
  };
}

const sizeOf = ({ sections: names }: Piece<unknown>, sections: OpenSections): number =>
  names.reduce((sum, name) => {
    const bytes = sections.get(name);
    return sum + (bytes instanceof Buffer ? TIMES_LARGER * bytes.length : 0);
  }, PIECE_BYTES);

function chunksFor(records: Needs['records'], chunks: readonly number[]): readonly number[] {
  if (!records) return [];
  if (records === true) return chunks.map((_, nth) => nth);
  return [...new Set(records.map((index) => chunkOf(index, chunks)))];
}

const chunkOf = (index: number, chunks: readonly number[]): number => chunks.findLastIndex((start) => start <= index);

function blockOf(
  { header, part }: BlockRef,
  found: ReadonlyMap<string, unknown>,
  values: (column: Column) => Values | undefined,
): Block {
  const { count, producerId, chunks = [], over } = header;
  const piece = <Value>({ key }: Piece<Value>): Value => {
    if (!found.has(key)) throw new Error(`${key} of the block is closed`);
    return found.get(key) as Value;
  };
  const instants = found.has(INSTANTS_PIECE.key) ? piece(INSTANTS_PIECE) : undefined;
  const order = orderOf(count, instants);
  const places = () => piece(PLACES_PIECE);
  const line = (index: number) => {
    const nth = chunkOf(index, chunks);
    return piece(chunkPiece(nth))[index - chunks[nth]!]!;
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

/** Within a block ids only grow, so that equal instants are in order as they stand. */
function orderOf(count: number, instants: readonly number[] | undefined): readonly number[] {
  if (!instants?.some((instant, index) => instant < instants[index - 1]!)) return asTheyStand(count);
  return [...asTheyStand(count)].sort((a, b) => instants[a]! - instants[b]! || a - b);
}

/** Most blocks have as many records as the one before. */
let standing: readonly number[] = [];

function asTheyStand(count: number): readonly number[] {
  if (standing.length !== count) standing = Array.from({ length: count }, (_, index) => index);
  return standing;
}
