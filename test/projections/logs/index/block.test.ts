/** Columnar blocks: records are restored, and summaries have no false negatives. */
import { expect } from 'chai';
import fc from 'fast-check';
import { EVERYTHING } from '../../../../domain/logs/filter.js';
import { termsOfFilter } from '../../../../domain/logs/index-terms.js';
import { levelBit } from '../../../../domain/logs/levels.js';
import { normalizeRecord } from '../../../../domain/logs/record.js';
import { compareRecords, recordId } from '../../../../domain/logs/record-id.js';
import { HOUR_MS } from '../../../../domain/logs/timestamp.js';
import { createTermSet } from '../../../../projections/kernel/block-index/term-set.js';
import {
  chunksWithAll,
  decodeTermTable,
  encodeTermTable,
} from '../../../../projections/kernel/block-index/term-table.js';
import { buildBlock, decodeBlock, wholeText } from '../../../../projections/logs/index/block.js';
import { NOON, record, termsOf } from '../../../domain/logs/arbitrary.js';

const batches = fc.array(fc.array(record, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 5 });

describe('a block', () => {
  it('restores its records with their positions, in query order', () => {
    fc.assert(
      fc.property(batches, (all) => {
        const block = buildBlock('api');
        const put = all.flatMap((records, batch) =>
          records.map((data, place) => {
            const position = BigInt(batch * 7 + 1);
            const one = normalizeRecord(JSON.parse(JSON.stringify(data)), 'api', NOON);
            block.add(one, JSON.stringify(one.data), position, place);
            return { ...one, id: recordId(position, place) };
          }),
        );
        const open = decodeBlock([block.text()]);
        expect(open.order.map((index) => open.record(index))).to.deep.equal(put.toSorted(compareRecords));
        for (const index of open.order) {
          expect(open.level(index)).to.equal(open.record(index).level);
          expect(open.instant(index)).to.equal(open.record(index).instant);
        }
      }),
    );
  });

  it('has a summary and a term table without false negatives', () => {
    fc.assert(
      fc.property(batches, (all) => {
        const block = buildBlock('api');
        const records = all.flat().map((data) => normalizeRecord(data, 'api', NOON));
        for (const [place, each] of records.entries()) block.add(each, JSON.stringify(each.data), 1n, place);
        const { from, to, count, levels, correlations } = block.summary();
        const terms = decodeTermTable(encodeTermTable(block.terms));
        expect([from, to, count]).to.deep.equal([
          Math.min(...records.map(({ instant }) => instant)),
          Math.max(...records.map(({ instant }) => instant)),
          records.length,
        ]);
        expect(levels).to.equal(records.reduce((bits, { level }) => bits | levelBit(level), 0));
        for (const { correlationId } of records)
          if (correlationId) expect(correlations.flat()).to.include(correlationId);
        for (const each of records) termsOf(each, (term) => expect(chunksWithAll(terms, [term])(0)).to.equal(true));
      }),
    );
  });
});

describe('a block written in pieces', () => {
  /** Fifteen records of five events, an hour apart with one step back, split after `cut` records. */
  function written(cut: number) {
    const block = buildBlock('api');
    const pieces: string[] = [];
    const records = Array.from({ length: 15 }, (_, n) => {
      const data = { timestamp: NOON + (n % 7 === 6 ? -1 : n) * HOUR_MS, n, level: n % 2 ? 'INFO' : 'WARN' };
      const one = normalizeRecord(data, 'api', NOON);
      const [position, place] = [BigInt(Math.floor(n / 3) + 1), n % 3];
      block.add(one, JSON.stringify(data), position, place);
      if (n + 1 === cut) pieces.push(block.text());
      return { ...one, id: recordId(position, place) };
    });
    return { block, pieces: [...pieces, block.text(cut)], records };
  }
  const recordsOf = ({ order, record }: ReturnType<typeof decodeBlock>) => order.map(record);

  it('equals a block written as a whole', async () => {
    for (const cut of [1, 4, 14]) {
      const { block, pieces, records } = written(cut);
      expect(recordsOf(decodeBlock(pieces))).to.deep.equal(records.toSorted(compareRecords));
      expect(await wholeText(pieces, 'api')).to.equal(block.text());
    }
  });

  it('can be read as of an earlier event', () => {
    const { pieces, records } = written(5);
    for (const until of [0, 1, 3, 5])
      expect(recordsOf(decodeBlock(pieces, BigInt(until)))).to.deep.equal(
        records.slice(0, 3 * until).toSorted(compareRecords),
      );
  });

  it('accounts for at least the memory of its texts and terms', () => {
    const of = (text: string) => {
      const block = buildBlock('api');
      block.add(normalizeRecord({ text }, 'api', NOON), text, 1n, 0);
      return block.memory;
    };
    const letters = 'x'.repeat(1000);
    expect(of(letters) - of('')).to.be.at.least(2 * letters.length);
    const words = Array.from({ length: 200 }, (_, n) => `w${n + 100}`).join(' ');
    expect(of(words) - of(letters)).to.be.at.least(200 * 4);
  });
});

describe('a term table', () => {
  it('has few false positives', () => {
    const terms = (from: number) =>
      Array.from({ length: 5000 }, (_, n) => termsOfFilter({ ...EVERYTHING, words: [`w${from + n}`] })).flat();
    const set = createTermSet();
    for (const term of terms(0)) set.add(term, 3);
    const table = decodeTermTable(encodeTermTable(set));
    expect(table.byteLength, 'four bytes per term').to.equal(4 * 5000);
    const inChunk = (chunk: number) => (term: number) => chunksWithAll(table, [term])(chunk);
    expect(terms(0).every(inChunk(3))).to.equal(true);
    expect(terms(0).filter(inChunk(2)).length).to.equal(0);
    expect(terms(5000).filter(inChunk(3)).length).to.be.lessThan(50);
  });
});
