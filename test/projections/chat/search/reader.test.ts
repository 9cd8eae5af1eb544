/** How often readers of the index of what was said ask for rows: ahead, and once for all who want the same. */
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

describe('the index of what was said', () => {
  let index: Awaited<ReturnType<typeof startSearchIndex>>;
  before(async () => {
    index = await startSearchIndex();
  });
  after(() => index?.stop());

  /** So many messages, and how a reader sees them. */
  async function said(run: string, count: number) {
    const events = await index.recorded(Array.from({ length: count }, (_, n) => posted(n)));
    await (await index.open(run))(events);
    return () => index.reader(run, events.at(-1)!.position);
  }
  const words = [{ text: 'alpha', authors: new Set<string>() }];
  const newest = (count: number, limit: number) => Array.from({ length: limit }, (_, n) => `m${count - 1 - n}`);

  it('is read ahead by who is to search: then only what is shown is asked for', async () => {
    const reader = (await said('run000000001', 600))();
    await reader.prepare();
    const asked = index.finds();
    const found = await reader.find({ words, isVisible: () => true, limit: 5 });
    expect(found.map(({ id }) => id)).to.deep.equal(newest(600, 5));
    expect(index.finds()).to.equal(asked + 1);
  });

  it('is read once for all who search at the same time, but for what each is shown', async () => {
    const begin = await said('run000000002', 1200);
    const asked = async (times: number) => {
      const reader = begin();
      const before = index.finds();
      const search = () => reader.find({ words, isVisible: () => true, limit: 500 });
      for (const found of await Promise.all(Array.from({ length: times }, search)))
        expect(found.map(({ id }) => id)).to.deep.equal(newest(1200, 500));
      return index.finds() - before;
    };
    const alone = await asked(1);
    expect(await asked(8)).to.be.at.most(alone + 7);
  });

  it('is found as it lies in the build that is shown: what was deleted left no place in a later one', async () => {
    const all = Array.from({ length: 300 }, (_, n) => posted(n));
    const events = await index.recorded([...all, deleted(2), edited(5)]);
    const [before, after] = ['run000000003', 'run000000004'];
    await (await index.open(before))(events);
    const isLeft = ({ data }: (typeof events)[number]) => !('messageId' in data && data.messageId === 'm2');
    await (await index.open(after))(events.filter(isLeft));
    const reader = index.reader(before, events.at(-1)!.position);
    const found = async () => (await reader.find({ words, isVisible: () => true, limit: 500 })).map(({ id }) => id);
    const left = newest(300, 300).filter((id) => id !== 'm2');
    for (const shown of [before, after, before]) {
      reader.shows(shown);
      expect(await found()).to.deep.equal(left);
    }
  });
});
