/** What the sections of a block say: each piece of it that can be asked for, and from which sections it is read. */
import type { Column, Values } from '../../../application/logs/record-index.js';
import type { Leaf } from '../../../domain/logs/filter.js';
import { recordId } from '../../../domain/logs/record-id.js';
import { type Places, readPosition } from './block.js';
import { decodeColumn } from './column.js';
import { arrayValues, prefixesOf, scalarValues, together } from './column-values.js';
import { INCOMPLETE, INSTANTS, type Kind, type Names, PLACES } from './sections.js';

/** By name, those that are there: opened, or `true` where only the records tell. */
export type OpenSections = ReadonlyMap<string, Buffer | true>;

/** Something that is read from one or more sections. */
export interface Piece<Value> {
  /** Tells it from other pieces of its block. */
  readonly key: string;
  readonly kind: Kind;
  readonly sections: readonly string[];
  read(sections: OpenSections): Value;
}

/** Unix ms of every record. */
export const INSTANTS_PIECE: Piece<readonly number[]> = {
  key: INSTANTS,
  kind: 'columns',
  sections: [INSTANTS],
  read(sections) {
    let instant = 0;
    return jsonIn<readonly number[]>(sections, INSTANTS).map((step) => (instant += step));
  },
};

/** Where the records stand in the log. */
export interface OpenPlaces {
  id(index: number): string;
  /** Characters of its text. */
  size(index: number): number;
  position(index: number): bigint;
  place(index: number): number;
}

export const PLACES_PIECE: Piece<OpenPlaces> = {
  key: PLACES,
  kind: 'columns',
  sections: [PLACES],
  read(sections) {
    const { events, runs, sizes } = jsonIn<Places>(sections, PLACES);
    const positions = events.map(readPosition);
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

const jsonIn = <T>(sections: OpenSections, name: string): T => JSON.parse(String(sections.get(name)));

/** The texts of the records of a chunk. */
export const chunkPiece = (nth: number): Piece<readonly string[]> => {
  const name = String(nth);
  return {
    key: `chunk ${name}`,
    kind: 'records',
    sections: [name],
    read: (sections) => String(sections.get(name)).split('\n'),
  };
};

/** Each step of a path may lead into arrays: those of more are looked up in the records. */
const MOST_STEPS = 16;

/** Reads undefined where only the records tell; it is itself undefined where that is certain. `count`: of records. */
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
  if (prefixes.length > MOST_STEPS) return undefined;
  const own = names.scalars(path);
  const arrays = prefixes.map((prefix) => ({ prefix, name: names.arrays(prefix) }));
  return {
    key: `field ${path}`,
    kind: 'columns',
    sections: [own, ...arrays.map(({ name }) => name), INCOMPLETE],
    read(sections) {
      const scalars = columnIn<Leaf>(sections, own, count);
      const within = arrays.flatMap(({ prefix, name }) => {
        const column = columnIn<Leaf>(sections, name, count);
        return column ? [arrayValues(column, prefix, path)] : [];
      });
      return together([...(scalars ? [scalarValues(scalars)] : []), ...within], count);
    },
  };
}

function columnIn<Value>(sections: OpenSections, name: string, count: number) {
  const bytes = sections.get(name);
  return bytes instanceof Buffer ? decodeColumn<Value>(bytes, count) : undefined;
}
