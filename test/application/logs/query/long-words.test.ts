/** Callers choose the words of queries and senders those of records: no pair of them may hold the search thread. */
import { expect } from 'chai';
import { forEachMatch } from '../../../../application/logs/query/search-blocks.js';
import type { Filter } from '../../../../domain/logs/filter.js';
import { normalizeRecord } from '../../../../domain/logs/record.js';
import { buildBlock, decodeBlock } from '../../../../projections/logs/index/block.js';

const RECORDS = 8;
const LONG_WORD = `${'a'.repeat(900)}b`;
const LETTERS = [...'bcdefghijklmnopqrstuvwxyz'];
const VALUES = LETTERS.slice(0, 14).map((letter) => `${'a'.repeat(450)}${letter}${'a'.repeat(450)}`);
const WORDS = LETTERS.map((letter) => 'a'.repeat(31) + letter);
const DIGITS = `${'1'.repeat(450)}2${'1'.repeat(450)}`;

describe('a search in long texts', () => {
  for (const [name, filter, data] of [
    ['a long word', words(LONG_WORD), { message: `${'a'.repeat(63_000)} ${LONG_WORD}` }],
    ['many words', words(...WORDS), { message: `${'a'.repeat(60_000)} ${WORDS.join(' ')}` }],
    ['a word of many digits', words(DIGITS), { message: `${'1'.repeat(60_000)} ${DIGITS}` }],
    [
      'many values of fields',
      { words: [], fields: VALUES.map((value, nth) => ({ path: `f${nth}`, value })) },
      { message: 'a'.repeat(46_000), ...Object.fromEntries(VALUES.map((value, nth) => [`f${nth}`, value])) },
    ],
  ] as const)
    it(`takes hardly longer for ${name} nearly found everywhere`, async () => {
      const usualData = { message: `${'a'.repeat(63_000)} b` };
      await search(words('b'), usualData);
      const usual = await search(words('b'), usualData);
      const crafted = await search(filter, data);
      expect(crafted.found).to.equal(RECORDS);
      expect(crafted.ms).to.be.below(3 * usual.ms + 50);
    });

  it('pauses for other searches after each of them', async () => {
    const data = { message: `${'a'.repeat(63_000)} ${LONG_WORD}` };
    expect((await search(words(LONG_WORD), data)).checkpoints).to.equal(RECORDS);
  });
});

function words(...found: readonly string[]): Filter {
  return { words: found, fields: [] };
}

async function search(filter: Filter, data: object) {
  const builder = buildBlock('api');
  for (let place = 0; place < RECORDS; place++)
    builder.add(normalizeRecord(data as never, 'api', 0), JSON.stringify(data), 1n, place);
  const block = { ...decodeBlock([builder.text()]), producerId: 'api', audit: false, entry: () => '' };
  let [found, checkpoints] = [0, 0];
  const checkpoint = () => void checkpoints++;
  const started = performance.now();
  await forEachMatch(block, { filter, order: 'asc', checkpoint }, () => ++found > 0);
  return { found, checkpoints, ms: performance.now() - started };
}
