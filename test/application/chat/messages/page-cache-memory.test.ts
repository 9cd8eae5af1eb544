/** The memory of cached pages. */
import { expect } from 'chai';
import { createPageCache } from '../../../../application/chat/messages/page-cache.js';
import { roster } from '../../../../domain/chat/roster.js';
import { plainMessage } from '../../../support/chat-fixtures.js';

const newest = { limit: 50 };

describe('the memory of cached pages', () => {
  it('counts the memory of messages and of their rendered JSON', async () => {
    const cache = createPageCache();
    const found = Array.from({ length: 90 }, (_, n) => ({
      message: plainMessage(`m${n}`, 'x'.repeat(1000)),
      posted: 1n,
      at: 1n,
    }));
    await cache.fill({ channelId: 'c' }, newest, async () => ({ found, position: 1n }));
    const filled = cache.cache.bytes();
    expect(filled).to.be.within(90 * 1000, 90 * 2500);
    cache.render({ channelId: 'c' }, { limit: 10 }, roster.initialState);
    const renderedBytes = cache.cache.bytes();
    // Each message is held by itself and within its page.
    expect(renderedBytes - filled).to.be.within(10 * 2000, 10 * 4000);
    cache.render({ channelId: 'c' }, { limit: 10 }, roster.initialState);
    expect(cache.cache.bytes()).to.equal(renderedBytes);
    // Changed names are rendered again, and the former rendering is freed.
    cache.render({ channelId: 'c' }, { limit: 5 }, { ...roster.initialState });
    expect(cache.cache.bytes() - filled).to.be.within(5 * 2000, 5 * 4000);
  });

  it('renders a page too large to cache once and then drops it', async () => {
    const cache = createPageCache(60_000);
    const found = Array.from({ length: 15 }, (_, n) => ({
      message: plainMessage(`m${n}`, 'x'.repeat(1000)),
      posted: 1n,
      at: 1n,
    }));
    await cache.fill({ channelId: 'c' }, newest, async () => ({ found, position: 1n }));
    expect(
      JSON.parse(cache.render({ channelId: 'c' }, { limit: 15 }, roster.initialState) ?? '').messages,
    ).to.have.length(15);
    expect([cache.cache.bytes(), cache.render({ channelId: 'c' }, { limit: 15 }, roster.initialState)]).to.deep.equal([
      0,
      undefined,
    ]);
  });

  it('stays within its memory bound', async () => {
    const small = createPageCache(60_000);
    const message = (n: number) => plainMessage(`m${n}`, 'x'.repeat(1000));
    for (let n = 0; n < 50; n++) {
      const found = [0, 1, 2].map((each) => ({ message: message(each), posted: 1n, at: 1n }));
      await small.fill({ channelId: `c${n}` }, newest, async () => ({ found, position: 1n }));
      small.render({ channelId: `c${n}` }, { limit: 50 }, roster.initialState);
    }
    expect(small.cache.bytes()).to.be.within(20_000, 60_000);
    const most = {
      found: Array.from({ length: 90 }, (_, n) => ({ message: message(n), posted: 1n, at: 1n })),
      position: 1n,
    };
    await small.fill({ channelId: 'large' }, newest, async () => most);
    expect(small.render({ channelId: 'large' }, { limit: 50 }, {} as never), 'too large to be cached').to.equal(
      undefined,
    );
  });
});
