/** Rules of threads: order and counters of replies. */
import { expect } from 'chai';
import fc from 'fast-check';
import { MAX_REPLIES, type ThreadCommand, thread, threadOf } from '../../../domain/chat/thread.js';
import { isRejection } from '../../../domain/shared/decider.js';
import {
  ADA,
  BOB,
  CHANNEL,
  CYD,
  closeThread,
  NOON,
  postReply,
  removeReply,
  withContent,
} from '../../support/chat-fixtures.js';
import { specOf } from '../../support/decider-spec.js';

const { given, run } = specOf(thread);

describe('a thread', () => {
  const history = [postReply('one', BOB, 'm.1', NOON + 6), postReply('two', CYD, 'm.2', NOON + 7)];

  it('summarizes its replies in each event', () => {
    const summary = { replyCount: 3, lastReplyAt: NOON + 8, lastReplyBy: BOB, participants: [BOB, CYD] };
    given(...run(history).events)
      .when(postReply('three', BOB, 'm.3', NOON + 8))
      .then({
        type: 'ReplyPosted',
        data: {
          messageId: 'm',
          channelId: CHANNEL,
          replyId: 'm.3',
          author: BOB,
          createdAt: NOON + 8,
          quotedMessageId: null,
          thread: summary,
          secret: withContent('three'),
        },
      });
    const removed = { messageId: 'm', channelId: CHANNEL, replyId: 'm.1', removedAt: NOON + 8 };
    const left = { replyCount: 1, lastReplyAt: NOON + 7, lastReplyBy: CYD, participants: [CYD] };
    given(...run(history).events)
      .when(removeReply('m.1'))
      .then({ type: 'ReplyRemoved', data: { ...removed, thread: left } });
    given(...run([history[0]!]).events)
      .when(removeReply('m.1'))
      .then({ type: 'ReplyRemoved', data: { ...removed, thread: null } });
  });

  it('counts a reply and its removal once', () => {
    given(...run(history).events)
      .when(history[0]!)
      .thenNothing();
    given(...run(history).events)
      .when(removeReply('m.3'))
      .thenNothing();
    given(...run([...history, removeReply('m.1')]).events)
      .when(removeReply('m.1'))
      .thenNothing();
  });

  it('takes at most ten thousand replies of a user, including removed ones', () => {
    const many = Array.from({ length: MAX_REPLIES }, (_, n) => [postReply('x', BOB, `m.${n}`), removeReply(`m.${n}`)]);
    const { events, state } = run(many.flat());
    expect(events).to.have.length(2 * MAX_REPLIES);
    expect(thread.decide(postReply('more'), state)).to.include({ rejected: 'chat/too-many-replies', kind: 'invalid' });
    expect(thread.decide(postReply('more', CYD), state)).to.have.length(1);
  });

  it('names at most a hundred participants', () => {
    const many = Array.from({ length: 300 }, (_, index) => postReply(`r${index}`, `u${index}`));
    const summary = threadOf(run(many).state)!;
    expect(summary).to.include({ replyCount: 300, lastReplyBy: 'u299' });
    expect(summary.participants).to.have.length(100);
  });

  it('is closed', () => {
    const { events, state } = run([...history, closeThread()]);
    expect(events.at(-1)).to.deep.equal({
      type: 'ThreadClosed',
      data: { messageId: 'm', channelId: CHANNEL, by: ADA, closedAt: NOON + 9 },
    });
    expect(state.isClosed).to.equal(true);
    for (const command of [postReply('late'), removeReply('m.1'), closeThread()])
      given(...events)
        .when(command)
        .thenRejected('chat/message-not-found', { kind: 'not-found' });
  });

  it('equals a plain list of its replies, for any history', () => {
    const who = fc.constantFrom(ADA, BOB, CYD);
    const command: fc.Arbitrary<ThreadCommand> = fc.oneof(
      { weight: 5, arbitrary: fc.tuple(who, fc.nat(10)).map(([by, at]) => postReply('yes', by, '', NOON + at)) },
      { weight: 4, arbitrary: fc.nat(300).map((n) => removeReply(`m.${n}`)) },
    );
    fc.assert(
      fc.property(fc.array(command, { maxLength: 300 }), (commands) => {
        const list: { id: string; author: string; at: number }[] = [];
        const authorsInOrder = new Set<string>();
        const unique = commands.map((each, index) =>
          each.type === 'AddReply' ? { ...each, replyId: `m.${index}` } : each,
        );
        const { events, state } = run(unique);
        const expected = () => {
          const last = list.at(-1);
          if (!last) return null;
          const participants = [...authorsInOrder].filter((each) => list.some(({ author }) => author === each));
          return { replyCount: list.length, lastReplyAt: last.at, lastReplyBy: last.author, participants };
        };
        for (const { type, data } of events) {
          if (type === 'ReplyPosted') {
            list.push({ id: data.replyId, author: data.author, at: data.createdAt });
            authorsInOrder.add(data.author);
          }
          if (type === 'ReplyRemoved')
            list.splice(
              list.findIndex(({ id }) => id === data.replyId),
              1,
            );
          if (type !== 'ThreadClosed') expect(data.thread).to.deep.equal(expected());
        }
        expect(threadOf(state)).to.deep.equal(expected());
        for (const last of unique.slice(-1)) {
          const again = last.type === 'RemoveReply' ? thread.decide(last, state) : [];
          expect(isRejection(again) || again.length === 0).to.equal(true);
        }
      }),
      { numRuns: 60 },
    );
  });
});
