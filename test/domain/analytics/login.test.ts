/** The rules of signing in: a link at a time, used once; sessions that slide, and end. */
import { expect } from 'chai';
import {
  LINK_MS,
  type LoginCommand,
  login,
  needsRenewal,
  SESSION_MS,
  sessionOf,
} from '../../../domain/analytics/login.js';
import { specOf } from '../../support/decider-spec.js';

const NOON = Date.UTC(2026, 10, 22, 12);
const about = (now: number) => ({ addressId: 'ada', now });
const asked = (linkId: string, now = NOON): LoginCommand => ({
  type: 'RequestLogin',
  linkId,
  email: 'ada@example.com',
  ...about(now),
});
const opened = (linkId: string, now = NOON): LoginCommand => ({
  type: 'OpenSession',
  linkId,
  sessionId: `of-${linkId}`,
  ...about(now),
});
const { run, given, after } = specOf(login);
const past = (...commands: readonly LoginCommand[]) => given(...run(commands).events);

describe('signing in', () => {
  it('takes a link until it is over, or another was asked for, and once', () => {
    past(asked('a'))
      .when(opened('a', NOON + LINK_MS))
      .thenRejected('analytics/bad-link');
    past(asked('a'), asked('b')).when(opened('a')).thenRejected('analytics/bad-link');
    past(asked('a'), opened('a')).when(opened('a')).thenRejected('analytics/bad-link');
    const { events } = run([asked('a'), opened('a', NOON + LINK_MS - 1)]);
    expect(events.at(-1)?.data).to.deep.include({ secret: { email: 'ada@example.com' } });
  });

  it('sends five mails in a quarter of an hour, and says nothing of it', () => {
    const five = ['a', 'b', 'c', 'd', 'e'].map((linkId) => asked(linkId));
    past(...five)
      .when(asked('f'))
      .thenNothing();
    expect(run([...five, asked('f', NOON + LINK_MS)]).events).to.have.length(6);
  });

  it('renews a session in the second half of its life, and never one that is over', () => {
    const renew = (now: number): LoginCommand => ({ type: 'RenewSession', sessionId: 'of-a', ...about(now) });
    const { events } = run([asked('a'), opened('a')]);
    given(...events)
      .when(renew(NOON + SESSION_MS / 2))
      .thenNothing();
    given(...events)
      .when(renew(NOON + SESSION_MS))
      .thenNothing();
    const later = NOON + SESSION_MS / 2 + 1;
    const session = sessionOf(after(run([renew(later)], events).events), 'of-a', later);
    expect(session?.expiresAt).to.equal(later + SESSION_MS);
    expect(session && needsRenewal(session, later)).to.equal(false);
  });

  it('remembers the mails of the last quarter of an hour, and no older ones', () => {
    const { state } = run(Array.from({ length: 100 }, (_, n) => asked(`${n}`, NOON + n * LINK_MS)));
    expect(state.recent).to.deep.equal([NOON + 99 * LINK_MS]);
  });

  it('keeps the other sessions of an address, but those that are over', () => {
    const { state } = run([asked('a'), opened('a'), asked('b'), opened('b')]);
    expect(sessionOf(state, 'of-a', NOON)).not.to.equal(undefined);
    const later = NOON + SESSION_MS;
    const { state: then } = run([asked('c'), opened('c'), asked('d', later), opened('d', later)]);
    expect(then.sessions.map(({ sessionId }) => sessionId)).to.deep.equal(['of-d']);
  });

  it('ends a session, and no other', () => {
    const { events } = run([
      asked('a'),
      opened('a'),
      asked('b'),
      opened('b'),
      { type: 'EndSession', sessionId: 'of-a', ...about(NOON) },
    ]);
    const state = after(events);
    expect(sessionOf(state, 'of-a', NOON)).to.equal(undefined);
    expect(sessionOf(state, 'of-b', NOON)?.email).to.equal('ada@example.com');
    expect(sessionOf(state, 'of-b', NOON + SESSION_MS)).to.equal(undefined);
  });
});
