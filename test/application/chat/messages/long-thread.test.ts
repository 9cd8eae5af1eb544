/** A thread of 100,000 replies: what is remembered of it stays small, and each further one costs as little as the first. */
import { expect } from 'chai';
import { estimateBytes } from '../../../../application/concurrency/estimate-size.js';
import { message } from '../../../../domain/chat/message.js';
import { MAX_REPLIES } from '../../../../domain/chat/thread.js';
import { evolveOf } from '../../../../domain/shared/decider.js';
import { ADA, asUser, BOB, CYD, deleteReply, postMessage, postReply } from '../../../support/chat-fixtures.js';
import { specOf } from '../../../support/decider-spec.js';

describe('a thread of 100,000 replies', function () {
  this.timeout(60_000);
  const fold = evolveOf(message);
  const id = (n: number) => `m.${String(n).padStart(22, '0')}`;
  const [posted] = specOf(message).run([postMessage('hello')]).events;
  const [reply] = specOf(message)
    .run([postReply('x')], [posted!])
    .events.slice(1);
  let state = fold(message.initialState, posted!);

  before(() => {
    for (let n = 0; n < 100_000; n++) {
      const data = { ...reply!.data, replyId: id(n), author: n % 2 ? ADA : BOB, createdAt: n };
      state = fold(state, { ...reply!, data } as typeof reply & object);
    }
  });

  it('is remembered in a few megabytes, so that it is not read again for each reply', () => {
    expect(estimateBytes(state)).to.be.lessThan(8 * 1024 * 1024);
  });

  it('is told of in a few hundred bytes with each', () => {
    const outcome = message.decide(postReply('one more', CYD, id(100_000)), state);
    const [event] = outcome as Extract<typeof outcome, readonly unknown[]>;
    expect(JSON.stringify(event).length).to.be.lessThan(1000);
    expect(event!.data).to.have.deep.property('thread').that.includes({ replyCount: 100_001, lastReplyBy: CYD });
  });

  it('knows the author of every reply, and who wrote last when the last are gone', () => {
    for (const [n, author] of [
      [0, BOB],
      [50_001, ADA],
      [99_999, ADA],
    ] as const) {
      const other = author === ADA ? BOB : ADA;
      expect(message.decide(deleteReply(id(n), asUser(other)), state)).to.include({ kind: 'forbidden' });
      const outcome = message.decide(deleteReply(id(n), asUser(author)), state);
      const [event] = outcome as Extract<typeof outcome, readonly unknown[]>;
      const last = n === 99_999 ? { lastReplyBy: BOB, lastReplyAt: 99_998 } : { lastReplyBy: ADA };
      expect(event!.data)
        .to.have.deep.property('thread')
        .that.includes({ replyCount: 99_999, ...last });
    }
  });

  it('takes so many of one person, those that are deleted too; of others it takes more', () => {
    const by = (n: number) => ({ ...reply!, data: { ...reply!.data, replyId: id(n), author: BOB } });
    let told = fold(message.initialState, posted!);
    for (let n = 1; n < MAX_REPLIES; n++) told = fold(told, by(n) as typeof reply & object);
    const [deleted] = message.decide(deleteReply(id(1), asUser(BOB)), told) as readonly (typeof reply & object)[];
    told = fold(told, deleted!);
    const more = postReply('one more', BOB, id(0));
    expect(message.decide(more, told)).to.have.length(1);
    told = fold(told, by(0) as typeof reply & object);
    expect(message.decide(more, told)).to.include({ rejected: 'chat/too-many-replies', kind: 'invalid' });
    expect(message.decide(postReply('one more', CYD, id(0)), told)).to.have.length(1);
    expect(message.decide(deleteReply(id(2), asUser(BOB)), told)).to.have.length(1);
  });
});
