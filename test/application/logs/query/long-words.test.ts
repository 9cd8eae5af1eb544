/** Callers choose the words of queries and senders those of records: no pair of them may hold the search thread. */
import { expect } from 'chai';
import { forEachMatch } from '../../../../application/logs/query/search-blocks.js';
import { normalizeRecord } from '../../../../domain/logs/record.js';
import { buildBlock, decodeBlock } from '../../../../projections/logs/index/block.js';

const RECORDS = 8;
const LONG_WORD = `${'a'.repeat(900)}b`;

describe('a search in long texts', () => {
  it('takes hardly longer for a long word that nearly occurs everywhere', async () => {
    await search('b');
    const usual = await search('b');
    const long = await search(LONG_WORD);
    expect(long.found).to.equal(RECORDS);
    expect(long.ms).to.be.below(3 * usual.ms + 50);
  });

  it('pauses for other searches after each of them', async () => {
    expect((await search(LONG_WORD)).checkpoints).to.equal(RECORDS);
  });
});

async function search(word: string) {
  const data = { message: `${'a'.repeat(63_000)} ${LONG_WORD} b` };
  const builder = buildBlock('api');
  for (let place = 0; place < RECORDS; place++)
    builder.add(normalizeRecord(data, 'api', 0), JSON.stringify(data), 1n, place);
  const block = { ...decodeBlock([builder.text()]), producerId: 'api', audit: false, entry: () => '' };
  let [found, checkpoints] = [0, 0];
  const checkpoint = () => void checkpoints++;
  const filter = { fields: [], words: [word] };
  const started = performance.now();
  await forEachMatch(block, { filter, order: 'asc', checkpoint }, () => ++found > 0);
  return { found, checkpoints, ms: performance.now() - started };
}
