/** A search with many words over many users yields to the event loop. */
import { expect } from 'chai';
import { createSearch, type SearchQuery } from '../../../../application/chat/search/search-messages.js';
import { readerNamed } from '../node.js';

describe('a search with many words', () => {
  it('yields to the event loop while it matches the names of many users', async () => {
    const users = new Map<string, object>();
    for (let n = 0; n < 100_000; n++) users.set(`u${n}`, { id: `u${n}`, userName: `somebody of number ${n}` });
    let query: SearchQuery | undefined;
    const search = createSearch({
      index: {
        find: async (received) => {
          query = received;
          return [];
        },
      },
      projectionProgress: { latest: () => 0n, latestOf: () => 0n, position: () => 0n, wait: async () => true } as never,
      admission: {
        roster: async () => ({ state: { users } }),
        load: async () => ({ state: { channels: new Map() } }),
      } as never,
    });
    let ticks = 0;
    const countTick = () => {
      ticks++;
      next = setImmediate(countTick);
    };
    let next = setImmediate(countTick);
    // Every name contains a word that begins with "o".
    const words = Array.from({ length: 31 }, (_, n) => `o${String.fromCodePoint(97 + n)}o`);
    const { request } = readerNamed('ada');
    await search({ userId: 'ada' } as never, { q: ['99999', ...words].join(' '), limit: 50 }, request);
    clearImmediate(next);
    expect(ticks).to.be.greaterThan(5);
    expect([...query!.words[0]!.authors]).to.deep.equal(['u99999']);
    expect(query!.words.at(-1)!.authors.size).to.equal(0);
  });
});
