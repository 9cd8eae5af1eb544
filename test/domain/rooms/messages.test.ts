/** The rules of posting: how fast, and never the same twice. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  MAX_MESSAGES,
  MAX_POSTS_PER_PARTICIPANT,
  MAX_POSTS_PER_ROOM,
  type MessagePosted,
  messages,
} from '../../../domain/rooms/messages.js';
import { isRejection } from '../../../domain/shared/decider.js';
import { specOf } from '../../support/decider-spec.js';
import { NOON, posted, postMessage } from '../../support/room-fixtures.js';

const { given, after, run } = specOf(messages);
const MINUTE = 60_000;
const times = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, i) => make(i));

describe('posting messages', () => {
  it('stores the envelope as it came', () => {
    given().when(postMessage('one')).then(posted('one'));
  });

  it('refuses an identical envelope', () => {
    given(posted('one', 'ada', NOON, 'same'))
      .when(postMessage('two', 'ada', NOON + MINUTE, 'same'))
      .thenRejected('rooms/message-replayed', { kind: 'conflict' });
  });

  it('has forgotten an envelope when 1000 more have come', () => {
    const later = times(MAX_MESSAGES, (index) => posted(`later-${index}`, 'ada', NOON + index * MINUTE));
    const now = NOON + MAX_MESSAGES * MINUTE;
    given(posted('one'), ...later.slice(1))
      .when(postMessage('two', 'ada', now, 'one'))
      .thenRejected('rooms/message-replayed');
    given(posted('one'), ...later)
      .when(postMessage('two', 'ada', now, 'one'))
      .then(posted('two', 'ada', now, 'one'));
  });

  it('takes 40 a minute of one participant', () => {
    const burst = times(MAX_POSTS_PER_PARTICIPANT, (index) => posted(`m-${index}`, 'ada', NOON + index * 1000));
    given(...burst)
      .when(postMessage('more', 'ada', NOON + 45_000))
      .thenRejected('rooms/too-many-messages', { kind: 'limit', retryAfterMs: 15_000 });
    given(...burst)
      .when(postMessage('more', 'ada', NOON + MINUTE - 1))
      .thenRejected('rooms/too-many-messages', { retryAfterMs: 1 });
    given(...burst)
      .when(postMessage('more', 'ada', NOON + MINUTE))
      .then(posted('more', 'ada', NOON + MINUTE));
    given(...burst)
      .when(postMessage('more', 'bob', NOON + 45_000))
      .then(posted('more', 'bob', NOON + 45_000));
  });

  it('takes 120 a minute of all together', () => {
    const burst = times(MAX_POSTS_PER_ROOM, (index) => posted(`m-${index}`, `p-${index % 10}`, NOON + index * 100));
    given(...burst)
      .when(postMessage('more', 'new', NOON + 20_000))
      .thenRejected('rooms/too-many-messages', { kind: 'limit', retryAfterMs: 40_000 });
    given(...burst)
      .when(postMessage('more', 'new', NOON + MINUTE))
      .then(posted('more', 'new', NOON + MINUTE));
  });

  it('goes on at once when the clock has been set back, and counts from there', () => {
    const before = Array.from({ length: 40 }, (_, index) => posted(`m-${index}`, 'ada', NOON + index));
    const back = NOON - 60 * MINUTE;
    given(...before)
      .when(postMessage('late', 'ada', back))
      .then(posted('late', 'ada', back));
    const after = Array.from({ length: 40 }, (_, index) => posted(`n-${index}`, 'ada', back + index));
    given(...before, ...after)
      .when(postMessage('late', 'ada', back + 100))
      .thenRejected('rooms/too-many-messages', { retryAfterMs: MINUTE - 100 });
  });

  it('says how long to wait so that waiting is enough', () => {
    const posts = fc.array(fc.tuple(fc.constantFrom('ada', 'bob', 'eve', 'joe'), fc.nat(900)), {
      minLength: 100,
      maxLength: 200,
    });
    fc.assert(
      fc.property(posts, (list) => {
        let at = NOON;
        const commands = list.map(([by, gap], index) => {
          at += gap;
          return postMessage(`m-${index}`, by, at);
        });
        const { events, state } = run(commands);
        const next = postMessage('next', 'ada', at);
        const outcome = messages.decide(next, state);
        if (!isRejection(outcome)) return;
        const wait = outcome.retryAfterMs ?? 0;
        expect(wait).to.be.greaterThan(0);
        given(...events)
          .when({ ...next, now: at + wait })
          .then(posted('next', 'ada', at + wait));
      }),
    );
  });

  it('never lets more through within any minute, and no digest twice', () => {
    const posts = fc.array(fc.tuple(fc.constantFrom('ada', 'bob', 'eve', 'joe'), fc.nat(300), fc.nat(150)), {
      minLength: 150,
      maxLength: 400,
    });
    fc.assert(
      fc.property(posts, (list) => {
        let at = NOON;
        const { events } = run(
          list.map(([by, gap, digest], index) => {
            at += gap;
            return postMessage(`m-${index}`, by, at, `${by}-${digest}`);
          }),
        );
        expect(new Set(events.map(({ data }) => data.digest)).size).to.equal(events.length);
        for (const [index, { data }] of events.entries()) {
          const window = events.slice(0, index + 1).filter((each) => each.data.createdAt > data.createdAt - MINUTE);
          expect(window.length).to.be.at.most(MAX_POSTS_PER_ROOM);
          const mine = window.filter((each) => each.data.senderId === data.senderId);
          expect(mine.length).to.be.at.most(MAX_POSTS_PER_PARTICIPANT);
        }
      }),
    );
  });

  it('remembers no more than it needs, and takes erased messages like others', () => {
    const faceless = ({ type, data }: MessagePosted): MessagePosted => ({
      type,
      data: { ...data, secret: { envelope: null } },
    });
    const history = times(3000, (index) => faceless(posted(`m-${index}`, 'ada', NOON + index * 600)));
    const { digests, recent } = after(history);
    expect(digests).to.have.length(MAX_MESSAGES);
    expect(recent).to.have.length(100);
  });
});
