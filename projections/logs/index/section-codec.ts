/** Decodes the sections of a block into pieces: instants, positions, column values and records. */
import type { Column, Values } from '../../../application/logs/record-index.js';
import type { Leaf } from '../../../domain/logs/filter.js';
import { recordId } from '../../../domain/logs/record-id.js';
import { orderByInstant, type Places, parsePosition } from './block.js';
import { decodeColumn } from './column.js';
import { arrayValues, mergeValues, prefixesOf, scalarValues } from './column-values.js';
import { INCOMPLETE, INSTANTS, type Kind, type Names, PLACES } from './sections.js';

/** Decrypted sections by name; `true` if only the records have the values. */
export type DecryptedSections = ReadonlyMap<string, Buffer | true>;

/** A value decoded from one or more sections. */
export interface Piece<Value> {
  readonly key: string;
  readonly kind: Kind;
  readonly sections: readonly string[];
  read(sections: DecryptedSections): Value;
}

export interface DecodedInstants {
  readonly instants: readonly number[];
  /** Indexes of the records, by instant. */
  readonly order: readonly number[];
}

export const INSTANTS_PIECE: Piece<DecodedInstants> = {
  key: INSTANTS,
  kind: 'columns',
  sections: [INSTANTS],
  read(sections) {
    let instant = 0;
    const instants = jsonIn<readonly number[]>(sections, INSTANTS).map((step) => (instant += step));
    return { instants, order: orderByInstant(instants) };
  },
};

export interface DecodedPlaces {
  id(index: number): string;
  size(index: number): number;
  position(index: number): bigint;
  place(index: number): number;
}

export const PLACES_PIECE: Piece<DecodedPlaces> = {
  key: PLACES,
  kind: 'columns',
  sections: [PLACES],
  read(sections) {
    const { events, runs, sizes } = jsonIn<Places>(sections, PLACES);
    const positions = events.map(parsePosition);
    const [at, places] = [new Uint32Array(sizes.length), new Uint32Array(sizes.length)];
    let index = 0;
    for (let run = 0; run < runs.length; run += 3) {
      const [event = 0, first = 0, count = 0] = runs.slice(run, run + 3);
      for (let nth = 0; nth < count; nth++, index++) [at[index], places[index]] = [event, first + nth];
    }
    const position = (index: number) => positions[at[index]!]!;
    const place = (index: number) => places[index]!;
    const id = (index: number) => recordId(position(index), place(index));
    return { id, size: (index) => sizes[index]!, position, place };
  },
};

const jsonIn = <T>(sections: DecryptedSections, name: string): T => JSON.parse(String(sections.get(name)));

export interface DecodedChunk {
  readonly text: string;
  readonly lines: readonly string[];
}

export const chunkPiece = (nth: number): Piece<DecodedChunk> => {
  const name = String(nth);
  return {
    key: `chunk ${name}`,
    kind: 'records',
    sections: [name],
    read(sections) {
      const text = String(sections.get(name));
      return { text, lines: text.split('\n') };
    },
  };
};

/** Maximum segments of a path, as each may lead into arrays; longer paths are evaluated on records. */
const MAX_SEGMENTS = 16;

/** Undefined if only the records can have the values; else a piece, which may decode to undefined for that reason. */
export function valuesPiece(column: Column, names: Names, count: number): Piece<Values | undefined> | undefined {
  const piece = column.by === 'field' ? fieldPiece(column.path, names, count) : derivedPiece(column.by, count);
  return (
    piece && {
      ...piece,
      read: (sections) =>
        piece.sections.some((name) => sections.get(name) === true) ? undefined : piece.read(sections),
    }
  );
}

const derivedPiece = (name: string, count: number): Piece<Values | undefined> => ({
  key: name,
  kind: 'columns',
  sections: [name],
  read: (sections) => scalarValues(columnIn<Leaf>(sections, name, count)!),
});

function fieldPiece(path: string, names: Names, count: number): Piece<Values | undefined> | undefined {
  const prefixes = prefixesOf(path);
  if (prefixes.length > MAX_SEGMENTS) return undefined;
  const scalarName = names.scalars(path);
  const arrays = prefixes.map((prefix) => ({ prefix, name: names.arrays(prefix) }));
  return {
    key: `field ${path}`,
    kind: 'columns',
    sections: [scalarName, ...arrays.map(({ name }) => name), INCOMPLETE],
    read(sections) {
      const scalars = columnIn<Leaf>(sections, scalarName, count);
      const arrayColumns = arrays.flatMap(({ prefix, name }) => {
        const column = columnIn<Leaf>(sections, name, count);
        return column ? [arrayValues(column, prefix, path)] : [];
      });
      return mergeValues([...(scalars ? [scalarValues(scalars)] : []), ...arrayColumns], count);
    },
  };
}

function columnIn<Value>(sections: DecryptedSections, name: string, count: number) {
  const bytes = sections.get(name);
  return bytes instanceof Buffer ? decodeColumn<Value>(bytes, count) : undefined;
}
