/** The search index after failovers between its writes: it answers like a scan, and equals a rebuilt index. */
import { expect } from 'chai';
import fc from 'fast-check';
import { foldText } from '../../../../domain/chat/text-search.js';
import { searchOf } from '../../../../projections/chat/search/projection.js';
import { deliverWithFailovers, leaders } from '../../../support/failovers.js';
import { history, simulate, WORDS } from './histories.js';
import { startSearchIndex } from './search-index.js';

describe('the search index after failovers', function () {
  this.timeout(180_000);
  let index: Awaited<ReturnType<typeof startSearchIndex>>;
  before(async () => {
    index = await startSearchIndex();
  });
  after(() => index?.stop());

  it('answers like a scan of the messages, after posts, edits, deletions and erasures', async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(history, leaders(400), async (acts, all) => {
        const { events, existing } = simulate(acts);
        const recorded = await index.recorded(events);
        const [live, rebuilt] = [`live${++run}`, `rebuilt${run}`];
        // A small cache, so that blocks are written and read again.
        await deliverWithFailovers(recorded, (lease) => index.open(live, lease, searchOf(2)), all);
        await (await index.open(rebuilt))(recorded);
        const reader = index.reader(live, recorded.at(-1)!.position);
        for (const text of [...WORDS.map(foldText), 'lph', 'nothing'])
          for (const limit of [5, 1000]) {
            const hits = await reader.find({ words: [{ text, authors: new Set() }], isVisible: () => true, limit });
            const expected = existing.filter(({ content }) => foldText(content).includes(text)).reverse();
            expect(
              hits.map(({ id }) => id),
              text,
            ).to.deep.equal(expected.slice(0, limit).map(({ id }) => id));
          }
        expect(await index.scan(live)).to.deep.equal(await index.scan(rebuilt));
      }),
      { numRuns: 3, endOnFailure: true },
    );
  });
});
