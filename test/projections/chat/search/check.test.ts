/** Comparing search indexes: by content, not by layout. */
import { expect } from 'chai';
import { type SearchEvent, startSearchIndex } from './search-index.js';

const COUNT = 600;
const place = { channelId: 'one', author: 'ada' };

const posted = (at: number): SearchEvent => {
  const secret = { content: `said ${at}`, attachments: [], images: [], mentions: [] };
  const data = { ...place, messageId: `m${at}`, createdAt: at, quotedMessageId: null, secret };
  return { type: 'MessagePosted', data };
};
const deleted = (at: number): SearchEvent => {
  const data = { ...place, messageId: `m${at}`, by: 'ada', deletedAt: COUNT + at, postedPosition: '1' };
  return { type: 'MessageDeleted', data };
};

describe('comparing search indexes', function () {
  this.timeout(60_000);
  let index: Awaited<ReturnType<typeof startSearchIndex>>;
  before(async () => {
    index = await startSearchIndex();
  });
  after(() => index?.stop());

  it('ignores deleted messages that were scavenged from the log, and finds every missing message', async () => {
    const all = Array.from({ length: COUNT }, (_, at) => at);
    const removed = all.filter((at) => at % 3 === 0);
    const log = await index.recorded([...all.map(posted), ...removed.map(deleted)]);
    const scavenged = log.filter((_, at) => at >= COUNT || at % 3 > 0);
    await (await index.open('served'))(log);
    await (await index.open('rebuilt'))(scavenged);
    const served = await index.compared('served');
    expect(served).to.have.length(COUNT - removed.length);
    expect(await index.compared('rebuilt')).to.deep.equal(served);
    expect(await index.scan('rebuilt')).not.to.deep.equal(await index.scan('served'));

    await index.rows('rebuilt', 'blocks').deleteOne({});
    expect(await index.compared('rebuilt')).to.have.length.below(served.length);
  });
});
