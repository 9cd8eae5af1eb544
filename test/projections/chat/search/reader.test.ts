/** Search index readers: they see all that was indexed, in the active build. */
import { expect } from 'chai';
import { EMPTY_CONTENT } from '../../../../domain/chat/events/messages.js';
import { NOON } from '../../../support/chat-fixtures.js';
import { type SearchEvent, startSearchIndex } from './search-index.js';

const about = (n: number) => ({
  messageId: `m${n}`,
  channelId: 'one',
  author: 'ada',
  createdAt: NOON + n,
  quotedMessageId: null,
});
const secret = { ...EMPTY_CONTENT, content: 'alpha' };

const posted = (n: number): SearchEvent => ({ type: 'MessagePosted', data: { ...about(n), secret } });

const edited = (n: number): SearchEvent => {
  const standing = { by: 'ada', updatedAt: NOON, pinnedAt: null, thread: null };
  return {
    type: 'MessageEdited',
    data: { ...about(n), ...standing, secret: { ...secret, reactions: {} } },
  };
};

const deleted = (n: number): SearchEvent => ({
  type: 'MessageDeleted',
  data: {
    messageId: `m${n}`,
    channelId: 'one',
    author: 'ada',
    by: 'ada',
    deletedAt: NOON,
    postedPosition: '1',
  },
});

describe('readers of the search index', () => {
  let index: Awaited<ReturnType<typeof startSearchIndex>>;
  before(async () => {
    index = await startSearchIndex();
  });
  after(() => index?.stop());

  const words = [{ text: 'alpha', authors: new Set<string>() }];
  const newest = (count: number, limit: number) => Array.from({ length: limit }, (_, n) => `m${count - 1 - n}`);

  it('see everything indexed before their search, also while others refresh the headers', async () => {
    const events = await index.recorded(Array.from({ length: 60 }, (_, n) => posted(n)));
    const apply = await index.open('run000000001');
    const reader = index.reader('run000000001', 0n);
    const searches: Promise<{ readonly indexed: number; readonly found: number }>[] = [];
    for (const [n, event] of events.entries()) {
      await apply([event]);
      reader.advance(event.position);
      let isFound = false;
      const find = () => reader.find({ words, isVisible: () => true, limit: 500 });
      const first = find().then(() => {
        isFound = true;
      });
      // Some of these searches start while new rows are being merged. Bounded, as each makes the others slower.
      for (let started = 0; !isFound && started < 50; started++) {
        searches.push(find().then(({ length }) => ({ indexed: n + 1, found: length })));
        await new Promise(setImmediate);
      }
      await first;
    }
    for (const { indexed, found } of await Promise.all(searches)) expect(found).to.be.at.least(indexed);
  });

  it('follow the active build, which may lack deleted messages', async () => {
    const all = Array.from({ length: 300 }, (_, n) => posted(n));
    const events = await index.recorded([...all, deleted(2), edited(5)]);
    const [before, after] = ['run000000003', 'run000000004'];
    await (await index.open(before))(events);
    const isIncluded = ({ data }: (typeof events)[number]) => !('messageId' in data && data.messageId === 'm2');
    await (await index.open(after))(events.filter(isIncluded));
    const reader = index.reader(before, events.at(-1)!.position);
    const found = async () => (await reader.find({ words, isVisible: () => true, limit: 500 })).map(({ id }) => id);
    const remaining = newest(300, 300).filter((id) => id !== 'm2');
    for (const active of [before, after, before]) {
      reader.shows(active);
      expect(await found()).to.deep.equal(remaining);
    }
  });
});
