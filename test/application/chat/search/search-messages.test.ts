/** A search with many words over many users yields to the event loop; one of a lagging index shows nothing that is deleted. */
import { expect } from 'chai';
import { createSearch, type SearchQuery } from '../../../../application/chat/search/search-messages.js';
import { messageNotFound } from '../../../../domain/chat/message.js';
import { ADA, DIRECT } from '../../../support/chat-fixtures.js';
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
      visibility: {} as never,
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

describe('a search of an index that lags', () => {
  it('shows neither deleted messages nor replies to them', async () => {
    const channelId = DIRECT;
    const hit = (id: string) => ({ id, channelId, author: ADA, createdAt: 1, content: 'wombat' });
    let isCurrent = true;
    const search = createSearch({
      index: { find: async () => ['deleted.r', 'm', 'deleted', 'm.r'].map(hit) },
      projectionProgress: {
        latest: () => 2n,
        latestOf: () => 2n,
        position: () => 1n,
        wait: async () => isCurrent,
      } as never,
      admission: {
        roster: async () => ({ state: { users: new Map() } }),
        load: async () => ({ state: { channels: new Map() } }),
      } as never,
      visibility: {
        findAny: async (id: string) => (id.startsWith('deleted') ? messageNotFound : ({ state: {} } as never)),
      },
    });
    const found = async () => {
      const page = await search({ userId: ADA } as never, { q: 'wombat', limit: 50 }, readerNamed('ada').request);
      if ('rejected' in page) throw new Error(page.rejected);
      return JSON.parse(String(page.json)).messages.map(({ id }: { id: string }) => id);
    };
    expect(await found()).to.deep.equal(['deleted.r', 'm', 'deleted', 'm.r']);
    isCurrent = false;
    expect(await found()).to.deep.equal(['m', 'm.r']);
  });
});
