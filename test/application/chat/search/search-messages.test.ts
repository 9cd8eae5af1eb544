/** Searching by many words among many people: nobody else waits for it. */
import { expect } from 'chai';
import { createSearch, type SearchQuery } from '../../../../application/chat/search/search-messages.js';
import { readerNamed } from '../node.js';

describe('searching the chat', () => {
  it('lets others have their turn while it looks for many words in the names of many', async () => {
    const users = new Map<string, object>();
    for (let n = 0; n < 100_000; n++) users.set(`u${n}`, { id: `u${n}`, userName: `somebody of number ${n}` });
    let asked: SearchQuery | undefined;
    const search = createSearch({
      index: {
        find: async (query) => {
          asked = query;
          return [];
        },
      },
      projectionProgress: { latest: () => 0n, latestOf: () => 0n, position: () => 0n, wait: async () => true } as never,
      admission: {
        roster: async () => ({ state: { users } }),
        load: async () => ({ state: { channels: new Map() } }),
      } as never,
    });
    let turns = 0;
    const turning = () => {
      turns++;
      next = setImmediate(turning);
    };
    let next = setImmediate(turning);
    // Every name has much that begins like them.
    const words = Array.from({ length: 31 }, (_, n) => `o${String.fromCodePoint(97 + n)}o`);
    const { request } = readerNamed('ada');
    await search({ userId: 'ada' } as never, { q: ['99999', ...words].join(' '), limit: 50 }, request);
    clearImmediate(next);
    expect(turns).to.be.greaterThan(5);
    expect([...asked!.words[0]!.authors]).to.deep.equal(['u99999']);
    expect(asked!.words.at(-1)!.authors.size).to.equal(0);
  });
});
