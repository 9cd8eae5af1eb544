/** Columns of a block have exactly the values of its records, or are omitted. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { Column, Values } from '../../../../application/logs/record-index.js';
import { leavesAt } from '../../../../domain/logs/filter.js';
import { type JsonObject, parseExact } from '../../../../domain/logs/json.js';
import { type LogRecord, parseRecord } from '../../../../domain/logs/record.js';
import { chunksWithAll, decodeTermTable, termSection } from '../../../../projections/kernel/block-index/term-table.js';
import { buildBlock } from '../../../../projections/logs/index/block.js';
import { createColumn, decodeColumn, type Entry, encodeColumn } from '../../../../projections/logs/index/column.js';
import {
  chunkPiece,
  type DecryptedSections,
  INSTANTS_PIECE,
  PLACES_PIECE,
  valuesPiece,
} from '../../../../projections/logs/index/section-codec.js';
import { encodeSections, type Kind, type Names, type Section } from '../../../../projections/logs/index/sections.js';
import { NOON, record, termsOf } from '../../../domain/logs/arbitrary.js';

const names: Names = { scalars: (path) => `s${path}`, arrays: (path) => `a${path}` };

/** Sections as read, but unencrypted. */
function sectionsCollection(records: readonly LogRecord[]) {
  const block = buildBlock('api');
  for (const [place, each] of records.entries()) block.add(each, each.json, BigInt(7 + (place >> 2)), place % 4);
  const plain = encodeSections(block, names);
  const open = (kind: Kind): DecryptedSections => {
    const read = (section: Section) => (section === true ? section : Buffer.from(section));
    return new Map(Array.from(plain[kind], ([name, section]) => [name, read(section)]));
  };
  const values = (column: Column): Values | undefined =>
    valuesPiece(column, names, records.length)?.read(open('columns'));
  return { open, values, chunks: block.chunks };
}

const read = (data: JsonObject) => parseRecord(JSON.stringify(data), 'api', NOON);
const textsOf = ({ at, texts }: Values, count: number) =>
  Array.from({ length: count }, (_, index) => [...texts[at[index]!]!].sort());
const truthOf = (column: Column, { level, event, correlationId, data }: LogRecord): string[] => {
  if (column.by === 'field') return [...new Set(leavesAt(data, column.path).map(String))].sort();
  const [value] = [{ level, event, correlation: correlationId }[column.by]];
  return value === undefined ? [] : [value];
};

const PATHS = [
  'a',
  'b',
  'a.b',
  'tags',
  'tags.0',
  'a.0.b',
  'b.a',
  'http.status',
  'a.b.a.b',
  'message',
  'event',
  'correlationId',
  '0',
  '',
];
const column: fc.Arbitrary<Column> = fc.oneof(
  fc.constantFrom<Column>({ by: 'level' }, { by: 'event' }, { by: 'correlation' }),
  fc.constantFrom(...PATHS).map((path): Column => ({ by: 'field', path })),
  fc
    .array(fc.constantFrom('a', 'b', 'a.b', 'tags', '0', 'http'), { minLength: 1, maxLength: 4 })
    .map((keys): Column => ({ by: 'field', path: keys.join('.') })),
);
const records = fc.array(record, { minLength: 1, maxLength: 12 }).map((all) => all.map(read));

describe('the columns of a block', () => {
  it('have the values of the records, for any content', () => {
    let compared = 0;
    fc.assert(
      fc.property(records, fc.array(column, { minLength: 4, maxLength: 8 }), (all, columns) => {
        const { values } = sectionsCollection(all);
        for (const each of columns) {
          const found = values(each);
          if (!found) continue;
          compared++;
          const truth = all.map((one) => truthOf(each, one));
          expect(textsOf(found, all.length), JSON.stringify(each)).to.deep.equal(truth);
        }
      }),
      { numRuns: 2000 },
    );
    expect(compared).to.be.greaterThan(5000);
  });

  const one = (path: string): Column => ({ by: 'field', path });

  it('are omitted if two paths lead to the same name, since one record may have both', () => {
    const all: JsonObject[] = [{ 'a.b': 1, a: { b: 2 }, c: 3 }, { a: { b: 4 } }];
    const { values } = sectionsCollection(all.map(read));
    expect(values(one('a.b'))).to.equal(undefined);
    expect(textsOf(values(one('c'))!, 2)).to.deep.equal([['3'], []]);
  });

  it('resolve array elements, with and without index', () => {
    const all = [{ a: [{ b: [1, '1', true] }, { b: 2 }] }, { a: { b: 3 } }, { a: 5 }].map(read);
    const { values } = sectionsCollection(all);
    expect(textsOf(values(one('a.b'))!, 3)).to.deep.equal([['1', '2', 'true'], ['3'], []]);
    expect(textsOf(values(one('a.0.b'))!, 3)).to.deep.equal([['1', 'true'], [], []]);
    expect(textsOf(values(one('a'))!, 3)).to.deep.equal([[], [], ['5']]);
  });

  it('are omitted for long values and for timestamps', () => {
    const all = Array.from({ length: 50 }, (_, n) =>
      read({ long: `${n}`.padEnd(1000, 'x'), same: 'y'.repeat(1000), timestamp: NOON + n }),
    );
    const { values } = sectionsCollection(all);
    expect(values(one('long'))).to.equal(undefined);
    expect(values(one('timestamp'))).to.equal(undefined);
    expect(new Set(textsOf(values(one('same'))!, 50).flat()).size).to.equal(1);
  });

  it('are omitted for all paths beyond the maximum number', () => {
    const wide = (many: number) => read(Object.fromEntries(Array.from({ length: many }, (_, n) => [`key${n}`, n])));
    expect(textsOf(sectionsCollection([wide(256)]).values(one('key255'))!, 1)).to.deep.equal([['255']]);
    const { values } = sectionsCollection([wide(257)]);
    for (const path of ['key0', 'key256', 'nothing']) expect(values(one(path))).to.equal(undefined);
    expect(textsOf(values({ by: 'level' })!, 1)).to.deep.equal([['INFO']]);
  });

  it('keep digits of numbers that no double can hold', () => {
    const json = '{"id":12345678901234567890,"small":1}';
    const { values } = sectionsCollection([parseRecord(json, 'api', NOON)]);
    expect(textsOf(values(one('id'))!, 1)).to.deep.equal([['12345678901234567890']]);
    expect((parseExact(json) as JsonObject).id).to.equal('12345678901234567890');
  });

  it('accompany positions and texts, which restore the records exactly', () => {
    fc.assert(
      fc.property(records, (all) => {
        const { open, chunks } = sectionsCollection(all);
        const lines = chunks.flatMap((_, nth) => [...chunkPiece(nth).read(open('records')).lines]);
        expect(lines).to.deep.equal(all.map(({ json }) => json));
        expect(INSTANTS_PIECE.read(open('columns')).instants).to.deep.equal(all.map(({ instant }) => instant));
        const { position, place, size } = PLACES_PIECE.read(open('columns'));
        for (const [index, { json }] of all.entries())
          expect([position(index), place(index), size(index)]).to.deep.equal([
            BigInt(7 + (index >> 2)),
            index % 4,
            json.length,
          ]);
      }),
    );
  });

  it('have all terms of every record in its chunk', () => {
    fc.assert(
      fc.property(records, (all) => {
        const padded = all.map(({ data }) => read({ ...data, padding: 'x'.repeat(12_000) }));
        const { open, chunks } = sectionsCollection(padded);
        const tables = open('terms');
        for (const [index, each] of padded.entries()) {
          const chunk = chunks.findLastIndex((start) => start <= index);
          termsOf(each, (term) => {
            const table = decodeTermTable(tables.get(termSection(term)) as Buffer);
            expect(chunksWithAll(table, [term])(chunk)).to.equal(true);
          });
        }
      }),
    );
  });
});

describe('a column', () => {
  it('is restored with few or many values, in some or all records', () => {
    for (const different of [1, 2, 254, 255, 256, 3000])
      for (const gaps of [0, 7]) {
        const column = createColumn();
        const expected = Array.from({ length: 3000 }, (_, n) => (n % gaps === 3 ? undefined : (n * 31) % different));
        for (const [index, value] of expected.entries()) if (value !== undefined) column.add(index, 0, value);
        const { at, entries } = decodeColumn<number>(encodeColumn(column, false), expected.length + 2);
        const found = Array.from(at, (entry) => (entry === 0 ? undefined : entries[entry - 1]));
        expect(found).to.deep.equal([...expected, undefined, undefined]);
      }
  });

  it('reports whether a value is new in its chunk', () => {
    const column = createColumn();
    const areNew = (chunk: number, first: number, values: readonly Entry[]) =>
      values.map((value, nth) => column.add(first + nth, chunk, value));
    expect(areNew(0, 0, ['a', 'b', 'a', 'a'])).to.deep.equal([true, true, false, false]);
    expect(areNew(0, 4, [200, '200', 200])).to.deep.equal([true, true, false]);
    expect(areNew(1, 7, [200, 200, 'a', 'a', 'c'])).to.deep.equal([true, false, true, false, true]);
  });
});
