/** A thread of 100,000 replies: its state stays small, and every further reply costs as little as the first. */
import { expect } from 'chai';
import { estimateBytes } from '../../../../application/concurrency/limiters.js';
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

  it('needs less than 8 MiB of state, so that it stays cached', () => {
    expect(estimateBytes(state)).to.be.lessThan(8 * 1024 * 1024);
  });

  it('adds less than 1,000 bytes to the event of a reply', () => {
    const outcome = message.decide(postReply('one more', CYD, id(100_000)), state);
    const [event] = outcome as Extract<typeof outcome, readonly unknown[]>;
    expect(JSON.stringify(event).length).to.be.lessThan(1000);
    expect(event!.data).to.have.deep.property('thread').that.includes({ replyCount: 100_001, lastReplyBy: CYD });
  });

  it('knows the author of every reply, and the last author after deletions', () => {
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

  it('limits replies per user, including deleted ones', () => {
    const by = (n: number) => ({ ...reply!, data: { ...reply!.data, replyId: id(n), author: BOB } });
    let state = fold(message.initialState, posted!);
    for (let n = 1; n < MAX_REPLIES; n++) state = fold(state, by(n) as typeof reply & object);
    const [deleted] = message.decide(deleteReply(id(1), asUser(BOB)), state) as readonly (typeof reply & object)[];
    state = fold(state, deleted!);
    const more = postReply('one more', BOB, id(0));
    expect(message.decide(more, state)).to.have.length(1);
    state = fold(state, by(0) as typeof reply & object);
    expect(message.decide(more, state)).to.include({ rejected: 'chat/too-many-replies', kind: 'invalid' });
    expect(message.decide(postReply('one more', CYD, id(0)), state)).to.have.length(1);
    expect(message.decide(deleteReply(id(2), asUser(BOB)), state)).to.have.length(1);
  });
});
