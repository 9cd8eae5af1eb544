/** Message rules of rooms: rate limits and replay protection. */
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

describe('posting to a room', () => {
  it('stores the envelope unchanged', () => {
    given().when(postMessage('one')).then(posted('one'));
  });

  it('rejects an identical envelope', () => {
    given(posted('one', 'ada', NOON, 'same'))
      .when(postMessage('two', 'ada', NOON + MINUTE, 'same'))
      .thenRejected('rooms/message-replayed', { kind: 'conflict' });
  });

  it('forgets an envelope after 1000 more messages', () => {
    const later = times(MAX_MESSAGES, (index) => posted(`later-${index}`, 'ada', NOON + index * MINUTE));
    const now = NOON + MAX_MESSAGES * MINUTE;
    given(posted('one'), ...later.slice(1))
      .when(postMessage('two', 'ada', now, 'one'))
      .thenRejected('rooms/message-replayed');
    given(posted('one'), ...later)
      .when(postMessage('two', 'ada', now, 'one'))
      .then(posted('two', 'ada', now, 'one'));
  });

  it('limits a participant to 40 messages a minute', () => {
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

  it('limits a room to 120 messages a minute', () => {
    const burst = times(MAX_POSTS_PER_ROOM, (index) => posted(`m-${index}`, `p-${index % 10}`, NOON + index * 100));
    given(...burst)
      .when(postMessage('more', 'new', NOON + 20_000))
      .thenRejected('rooms/too-many-messages', { kind: 'limit', retryAfterMs: 40_000 });
    given(...burst)
      .when(postMessage('more', 'new', NOON + MINUTE))
      .then(posted('more', 'new', NOON + MINUTE));
  });

  it('continues after the clock was set back, with a new window', () => {
    const before = Array.from({ length: 40 }, (_, index) => posted(`m-${index}`, 'ada', NOON + index));
    const back = NOON - 60 * MINUTE;
    given(...before)
      .when(postMessage('more', 'ada', back))
      .then(posted('more', 'ada', back));
    const after = Array.from({ length: 40 }, (_, index) => posted(`n-${index}`, 'ada', back + index));
    given(...before, ...after)
      .when(postMessage('again', 'ada', back + 100))
      .thenRejected('rooms/too-many-messages', { retryAfterMs: MINUTE - 100 });
  });

  it('returns a wait after which the message is accepted', () => {
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

  it('never accepts more messages per minute than allowed, nor a digest twice', () => {
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
          const own = window.filter((each) => each.data.senderId === data.senderId);
          expect(own.length).to.be.at.most(MAX_POSTS_PER_PARTICIPANT);
        }
      }),
    );
  });

  it('bounds its state, and folds erased messages alike', () => {
    const withoutEnvelope = ({ type, data }: MessagePosted): MessagePosted => ({
      type,
      data: { ...data, secret: { envelope: null } },
    });
    const history = times(3000, (index) => withoutEnvelope(posted(`m-${index}`, 'ada', NOON + index * 600)));
    const { digests, recent } = after(history);
    expect(digests).to.have.length(MAX_MESSAGES);
    expect(recent).to.have.length(100);
  });
});
