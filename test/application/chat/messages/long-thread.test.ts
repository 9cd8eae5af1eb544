/** A thread of 100,000 replies: its state stays cached, and every further reply costs as little as the first. */
import { expect } from 'chai';

import { estimateBytes } from '../../../../application/concurrency/limiters.js';
import { thread, threadOf } from '../../../../domain/chat/thread.js';

import { evolveOf } from '../../../../domain/shared/decider.js';
import { ADA, BOB, CHANNEL, CYD, postReply, removeReply } from '../../../support/chat-fixtures.js';
import { specOf } from '../../../support/decider-spec.js';

describe('a thread of 100,000 replies', function () {
  this.timeout(60_000);
  const fold = evolveOf(thread);
  const id = (n: number) => `m.${String(n).padStart(22, '0')}`;
  const [reply] = specOf(thread).run([postReply('x')]).events;
  let state = thread.initialState;

  before(() => {
    for (let n = 0; n < 100_000; n++) {
      const data = { ...reply!.data, replyId: id(n), author: n % 2 ? ADA : BOB, createdAt: n };
      state = fold(state, { ...reply!, data } as typeof reply & object);
    }
  });

  it('needs less than 48 MiB of state, so that it stays cached', () => {
    expect(estimateBytes(state)).to.be.lessThan(48 * 1024 * 1024);
  });

  it('adds less than 1,000 bytes to the event of a reply', () => {
    const outcome = thread.decide(postReply('one more', CYD, id(100_000)), state);
    const [event] = outcome as Extract<typeof outcome, readonly unknown[]>;
    expect(JSON.stringify(event).length).to.be.lessThan(1000);
    expect(event!.data).to.have.deep.property('thread').that.includes({ replyCount: 100_001, lastReplyBy: CYD });
  });

  it('knows the last author after the removal of any reply', () => {
    for (const n of [0, 50_001, 99_999]) {
      const outcome = thread.decide(removeReply(id(n)), state);
      const [event] = outcome as Extract<typeof outcome, readonly unknown[]>;
      const last = n === 99_999 ? { lastReplyBy: BOB, lastReplyAt: 99_998 } : { lastReplyBy: ADA };
      expect(event!.data)
        .to.have.deep.property('thread')
        .that.includes({ replyCount: 99_999, ...last });
    }
  });

  it('removes its newest reply as fast after many others were removed', () => {
    const remove = (n: number): Parameters<typeof fold>[1] => {
      const data = { messageId: 'm', channelId: CHANNEL, replyId: id(n), removedAt: n, thread: null };
      return { type: 'ReplyRemoved', data };
    };
    let left = state;
    for (let n = 99_999; n > 0; n--) left = fold(left, remove(n));
    const start = performance.now();
    for (let n = 100_000; n < 100_200; n++) {
      const data = { ...reply!.data, replyId: id(n), author: CYD, createdAt: n };
      left = fold(left, { ...reply!, data } as typeof reply & object);
      left = fold(left, remove(n));
    }
    // Some 20 ms; searching for the one before among the removed replies takes 20 s.
    expect(performance.now() - start).to.be.lessThan(2000);
    expect(threadOf(left)).to.deep.equal({ replyCount: 1, lastReplyAt: 0, lastReplyBy: BOB, participants: [BOB] });
  });
});
