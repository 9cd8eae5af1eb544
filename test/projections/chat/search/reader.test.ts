/** Queries of search index readers: prefetched, and shared between concurrent searches. */
import { expect } from 'chai';
import { EMPTY_CONTENT } from '../../../../domain/chat/events/messages.js';
import { NOON } from '../../../support/chat-fixtures.js';
import { type Said, startSearchIndex } from './search-index.js';

const about = (n: number) => ({
  messageId: `m${n}`,
  channelId: 'one',
  author: 'ada',
  createdAt: NOON + n,
  quotedMessageId: null,
});
const secret = { ...EMPTY_CONTENT, content: 'alpha' };

const posted = (n: number): Said => ({ type: 'MessagePosted', data: { ...about(n), secret } });

const edited = (n: number): Said => {
  const standing = { by: 'ada', updatedAt: NOON, pinnedAt: null, thread: null };
  return {
    type: 'MessageEdited',
    data: { ...about(n), ...standing, secret: { ...secret, reactions: {} } },
  };
};

const deleted = (n: number): Said => ({
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

  /** Indexes that many messages; returns a function that creates a reader. */
  async function indexMessages(run: string, count: number) {
    const events = await index.recorded(Array.from({ length: count }, (_, n) => posted(n)));
    await (await index.open(run))(events);
    return () => index.reader(run, events.at(-1)!.position);
  }
  const words = [{ text: 'alpha', authors: new Set<string>() }];
  const newest = (count: number, limit: number) => Array.from({ length: limit }, (_, n) => `m${count - 1 - n}`);

  it('query only the hits of a search after prefetching', async () => {
    const reader = (await indexMessages('run000000001', 600))();
    await reader.prepare();
    const findsBefore = index.finds();
    const found = await reader.find({ words, isVisible: () => true, limit: 5 });
    expect(found.map(({ id }) => id)).to.deep.equal(newest(600, 5));
    expect(index.finds()).to.equal(findsBefore + 1);
  });

  it('share queries between concurrent searches, except for the hits', async () => {
    const begin = await indexMessages('run000000002', 1200);
    const queriesFor = async (times: number) => {
      const reader = begin();
      const before = index.finds();
      const search = () => reader.find({ words, isVisible: () => true, limit: 500 });
      for (const found of await Promise.all(Array.from({ length: times }, search)))
        expect(found.map(({ id }) => id)).to.deep.equal(newest(1200, 500));
      return index.finds() - before;
    };
    const alone = await queriesFor(1);
    expect(await queriesFor(8)).to.be.at.most(alone + 7);
  });

  it('follow the active build, in which deleted messages may have no slot', async () => {
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
