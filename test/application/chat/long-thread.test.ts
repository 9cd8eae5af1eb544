/** A thread of 100,000 replies: what is remembered of it stays small, and each further one costs as little as the first. */
import { expect } from 'chai';
import { heldBytes } from '../../../application/held-bytes.js';
import { message } from '../../../domain/chat/message.js';
import { evolveOf } from '../../../domain/shared/decider.js';
import { ADA, asUser, BOB, deleteReply, postMessage, postReply } from '../../support/chat-messages.js';
import { specOf } from '../../support/decider-spec.js';

describe('a thread of 100,000 replies', function () {
  this.timeout(60_000);
  const fold = evolveOf(message);
  const id = (n: number) => `m.${String(n).padStart(22, '0')}`;
  const [posted] = specOf(message).run([postMessage('hello')]).events;
  let state = fold(message.initialState, posted!);

  before(() => {
    const [reply] = specOf(message)
      .run([postReply('x')], [posted!])
      .events.slice(1);
    for (let n = 0; n < 100_000; n++) {
      const data = { ...reply!.data, replyId: id(n), author: n % 2 ? ADA : BOB, createdAt: n };
      state = fold(state, { ...reply!, data } as typeof reply & object);
    }
  });

  it('is remembered in a few megabytes, so that it is not read again for each reply', () => {
    expect(heldBytes(state)).to.be.lessThan(8 * 1024 * 1024);
  });

  it('is told of in a few hundred bytes with each', () => {
    const outcome = message.decide(postReply('one more', BOB, id(100_000)), state);
    const [event] = outcome as Extract<typeof outcome, readonly unknown[]>;
    expect(JSON.stringify(event).length).to.be.lessThan(1000);
    expect(event!.data)
      .to.have.deep.property('thread')
      .that.includes({ replyCount: 100_001, lastReplyBy: BOB });
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
});
