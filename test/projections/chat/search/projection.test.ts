/** The search index: live equals rebuilt under redelivery, and a search equals a scan of all messages. */
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import fc from 'fast-check';
import type { RecordedEvent } from '../../../../application/ports/index.js';
import { EMPTY_CONTENT } from '../../../../domain/chat/events/messages.js';
import { foldText } from '../../../../domain/chat/text-search.js';
import { search, searchOf } from '../../../../projections/chat/search/projection.js';
import { NOON } from '../../../support/chat-fixtures.js';
import { type Act, history, simulate, WORDS } from './histories.js';
import { type SearchEvent, startSearchIndex } from './search-index.js';

const deliveries = fc.array(
  fc.record({ back: fc.nat(400), take: fc.integer({ min: 1, max: 400 }), isNew: fc.boolean() }),
  { minLength: 1, maxLength: 12 },
);

describe('the search index', function () {
  this.timeout(180_000);
  let index: Awaited<ReturnType<typeof startSearchIndex>>;
  let runs = 0;
  before(async () => {
    index = await startSearchIndex();
  });
  after(() => index?.stop());

  const fresh = () => `run${String(++runs).padStart(9, '0')}`;

  async function delivered(
    events: readonly RecordedEvent[],
    steps: readonly { back: number; take: number; isNew: boolean }[],
    model = search,
  ): Promise<string> {
    const run = fresh();
    let apply = await index.open(run, undefined, model);
    let at = 0;
    for (const { back, take, isNew } of steps) {
      if (isNew) apply = await index.open(run, undefined, model);
      const from = Math.max(0, at - back);
      await apply(events.slice(from, from + take));
      // A redelivery continues from its start, so that nothing is skipped.
      at = Math.min(events.length, from + take);
    }
    await apply(events.slice(at));
    return run;
  }

  it('is equal under any batching, redelivery and restarts', async () => {
    await fc.assert(
      fc.asyncProperty(history, deliveries, async (acts, steps) => {
        const events = await index.recorded(simulate(acts).events);
        const rebuilt = await delivered(events, []);
        const live = await delivered(events, steps);
        expect(await index.scan(live)).to.deep.equal(await index.scan(rebuilt));
      }),
      { numRuns: 4, endOnFailure: true },
    );
  });

  it('is equal after a crash between dependent writes', async () => {
    const acts: Act[] = Array.from({ length: 300 }, () => ({ act: 'post', place: 0, author: 0, words: [0] }));
    const edit = (which: number): Act => ({ act: 'edit', which, words: [2] });
    // Two edits in one block, and changes of others in between.
    const changes: Act[] = [edit(5), { act: 'delete', which: 80 }, edit(280), edit(6)];
    const all = await index.recorded(simulate([...acts, ...changes]).events);
    const rebuilt = await index.scan(await delivered(all, []));
    for (const [until, then] of [
      // Blocks became full, or were changed, and only some of them were written.
      [100, 300],
      [300, 304],
    ] as const)
      for (const written of [0, 1, 2]) {
        const run = fresh();
        const rows = index.rows(run, 'blocks');
        await (await index.open(run))(all.slice(0, until));
        const before = await rows.find().toArray();
        await (await index.open(run))(all.slice(until, then));
        const after = await rows.find({}, { sort: { _id: 1 } }).toArray();
        const isChanged = (row: object) => !before.some((each) => isDeepStrictEqual(each, row));
        const lost = after.filter(isChanged).slice(written);
        for (const { _id } of lost) {
          await rows.deleteOne({ _id });
          const former = before.find((each) => each._id === _id);
          if (former) await rows.insertOne(former);
        }
        // Events of one batch may be redelivered one by one.
        const apply = await index.open(run);
        for (const each of all.slice(until)) await apply([each]);
        expect(await index.scan(run), `${until} ${written}`).to.deep.equal(rebuilt);
      }
  });

  it('is equal with a small or no write cache', async () => {
    await fc.assert(
      fc.asyncProperty(history, deliveries, fc.constantFrom(0, 1, 2), async (acts, steps, cacheSize) => {
        const events = await index.recorded(simulate(acts).events);
        const rebuilt = await delivered(events, []);
        const forgetful = await delivered(events, steps, searchOf(cacheSize));
        expect(await index.scan(forgetful)).to.deep.equal(await index.scan(rebuilt));
      }),
      { numRuns: 4, endOnFailure: true },
    );
  });

  it('finds what a scan of all messages finds, newest first', async () => {
    await fc.assert(
      fc.asyncProperty(history, async (acts) => {
        const { events, existing } = simulate(acts);
        const all = await index.recorded(events);
        const run = await delivered(all, []);
        const reader = index.reader(run, all.at(-1)!.position);
        for (const text of [...WORDS.map(foldText), 'lph', 'a', '-', 'nothing', 'alphab'])
          for (const limit of [3, 1000])
            for (const isVisible of [() => true, (where: string) => where !== 'one']) {
              const hits = await reader.find({ words: [{ text, authors: new Set() }], isVisible, limit });
              const expected = existing
                .filter(({ content, place: where }) => isVisible(where) && foldText(content).includes(text))
                .map(({ id, content }) => ({ id, content }))
                .reverse();
              expect(
                hits.map(({ id, content }) => ({ id, content })),
                text,
              ).to.deep.equal(expected.slice(0, limit));
            }
        const byBob = {
          words: [{ text: 'alpha', authors: new Set(['bob']) }],
          isVisible: () => true,
          limit: 1000,
        };
        const named = existing.filter(({ content, author }) => author === 'bob' || content.includes('alpha'));
        expect((await reader.find(byBob)).map(({ id }) => id)).to.deep.equal(named.map(({ id }) => id).reverse());
      }),
      { numRuns: 2, endOnFailure: true },
    );
  });

  it('is current for a long-lived reader while blocks become full', async () => {
    const posts = simulate(
      Array.from({ length: 600 }, (_, at) => ({
        act: 'post' as const,
        place: 0,
        author: 0,
        words: [at % 8],
      })),
    ).events;
    const events = await index.recorded(posts);
    const run = fresh();
    const apply = await index.open(run);
    let count = 0;
    for (let from = 0; from < events.length; from += 37) {
      const some = events.slice(from, from + 37);
      await apply(some);
      count += some.length;
      const reader = index.reader(run, some.at(-1)!.position);
      const hits = await reader.find({
        words: [{ text: 'x', authors: new Set() }],
        isVisible: () => true,
        limit: 1000,
      });
      expect(hits).to.have.length(Math.floor((count + 2) / 8));
    }
  });

  it('has bounded rows, even if edits lengthen its texts', async () => {
    const acts: Act[] = Array.from({ length: 256 }, () => ({ act: 'post', place: 0, author: 0, words: [0] }));
    const { events, existing } = simulate(acts);
    const long = '\u0001'.repeat(8000);
    const edits = existing.slice(0, 40).map(({ id, place: channelId, author }, at): SearchEvent => {
      const times = { createdAt: NOON, updatedAt: NOON + at, pinnedAt: null, quotedMessageId: null };
      const secret = { ...EMPTY_CONTENT, content: `${long} ${at}`, reactions: {} };
      const data = { messageId: id, channelId, author, by: author, ...times, secret };
      return { type: 'MessageEdited', data };
    });
    const all = await index.recorded([...events, ...edits]);
    const run = await delivered(all, [{ back: 0, take: 256, isNew: false }]);
    const rows = await index.scan(run);
    expect(rows.length).to.be.greaterThan(3);
    for (const row of rows) expect(JSON.stringify(row).length).to.be.below(4 * 1024 * 1024);
    expect(rows).to.deep.equal(await index.scan(await delivered(all, [])));
    const reader = index.reader(run, all.at(-1)!.position);
    const hits = await reader.find({
      words: [{ text: '39', authors: new Set() }],
      isVisible: () => true,
      limit: 10,
    });
    expect(hits.map(({ id }) => id)).to.deep.equal(['m39']);
  });
});
