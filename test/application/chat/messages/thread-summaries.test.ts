/** Thread summaries as of an event that the live feed delivers, read from the end of the thread if they are not known. */
import { expect } from 'chai';
import { createThreadSummaries } from '../../../../application/chat/messages/thread-summaries.js';
import type { EventLog, RecordedEvent, RevealedEvent } from '../../../../application/ports/index.js';
import type { ChatEvent } from '../../../../domain/chat/catalog.js';
import { threadStream } from '../../../../domain/chat/thread.js';
import {
  BOB,
  closeThread,
  DIRECT,
  deleteReply,
  editMessage,
  editReply,
  NOON,
  pin,
  postMessage,
  postReply,
  runMessages,
} from '../../../support/chat-fixtures.js';

const { events } = runMessages([
  postMessage('hello'),
  postReply('one'),
  postReply('two'),
  editReply('m.one', 'edited'),
  deleteReply('m.two'),
  editMessage('edited'),
  pin(),
  closeThread(),
]);
const recorded = events.map((event, at) => ({
  ...event,
  position: BigInt(at + 1),
})) as unknown as readonly (RevealedEvent<ChatEvent> & RecordedEvent)[];
const ofThread = recorded
  .filter(({ type }) => /^(Reply|Thread)/.test(type))
  .map((each, revision) => ({ ...each, revision }));
const at = (type: string) => recorded.find((each) => each.type === type)!;

describe('thread summaries', () => {
  let reads = 0;
  const log: Pick<EventLog, 'read'> = {
    async read(stream, { limit = 0, from = Number.MAX_SAFE_INTEGER } = {}) {
      expect(stream).to.equal(threadStream('m'));
      reads++;
      return ofThread
        .filter(({ revision }) => revision <= from)
        .toReversed()
        .slice(0, limit) as never;
    },
  };
  const both = { replyCount: 2, lastReplyAt: NOON + 6, lastReplyBy: BOB, participants: [BOB] };
  const one = { ...both, replyCount: 1 };

  it('are those of the last event of the thread that was delivered', () => {
    reads = 0;
    const { prepare, delivered } = createThreadSummaries({ log });
    const shown = recorded.flatMap((event) => {
      expect(prepare(event)).to.equal(undefined);
      return /Edited|Pinned/.test(event.type) ? [delivered('m')] : [];
    });
    expect(shown).to.deep.equal([both, one, one]);
    expect(delivered('m')).to.equal(null);
    expect(reads).to.equal(0);
  });

  it('are read as of the event by a node that starts with it', async () => {
    const edits = recorded.filter(({ type }) => type === 'MessageEdited');
    for (const [event, expected] of [
      [edits[0]!, both],
      [edits[1]!, one],
      [at('MessagePinned'), one],
    ] as const) {
      const { prepare, delivered } = createThreadSummaries({ log });
      await prepare(event);
      expect(delivered('m')).to.deep.equal(expected);
      reads = 0;
      expect(prepare(event)).to.equal(undefined);
      expect(reads).to.equal(0);
    }
  });

  it('are not read for direct messages', () => {
    const { prepare } = createThreadSummaries({ log });
    const event = recorded.find(({ type }) => type === 'MessageEdited')!;
    expect(prepare({ ...event, data: { ...event.data, channelId: DIRECT } } as never)).to.equal(undefined);
  });

  it('are null once the thread is closed', async () => {
    expect(await createThreadSummaries({ log }).read('m')).to.equal(null);
  });
});
