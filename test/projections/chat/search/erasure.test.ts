/** Erasing a channel from the search index in chunks. */
import { expect } from 'chai';
import { NOON } from '../../../support/chat-fixtures.js';
import { startSearchIndex } from './search-index.js';

describe('the search index of a deleted channel', function () {
  this.timeout(60_000);
  let index: Awaited<ReturnType<typeof startSearchIndex>>;
  before(async () => {
    index = await startSearchIndex();
  });
  after(() => index?.stop());

  it('is erased in chunks, and continues after an interruption', async () => {
    const run = 'run000000001';
    let remaining = Number.POSITIVE_INFINITY;
    const assertHeld = () => {
      if (--remaining < 0) throw new Error('the lease is lost');
    };
    const apply = await index.open(run, { assertHeld });
    const rows = index.rows(run, 'blocks');
    const many = Array.from({ length: 2500 }, (_, n) => ({ _id: `one ${n}`, channel: 'one' }));
    await rows.insertMany([...many, { _id: 'two', channel: 'two' } as never]);
    const events = await index.recorded([{ type: 'ChannelErased', data: { channelId: 'one', erasedAt: NOON } }]);
    remaining = 1;
    expect(await apply(events).catch(({ message }) => message)).to.equal('the lease is lost');
    expect(await rows.countDocuments()).to.equal(1501);
    remaining = 100;
    await apply(events);
    expect((await rows.find().toArray()).map(({ _id }) => _id)).to.deep.equal(['two']);
  });
});
