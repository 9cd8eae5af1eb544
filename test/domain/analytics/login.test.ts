/** Dashboard sessions with sliding expiry. */
import { expect } from 'chai';
import { type LoginCommand, login, needsRenewal, SESSION_MS, sessionOf } from '../../../domain/analytics/login.js';
import { specOf } from '../../support/decider-spec.js';

const NOON = Date.UTC(2026, 10, 22, 12);
const about = (now: number) => ({ addressId: 'ada', now });
const openSession = (sessionId: string, now = NOON): LoginCommand => ({
  type: 'OpenSession',
  sessionId,
  email: 'ada@example.com',
  ...about(now),
});
const { run, given, after } = specOf(login);

describe('dashboard login', () => {
  it('renews a session in the second half of its life, and no expired one', () => {
    const renew = (now: number): LoginCommand => ({ type: 'RenewSession', sessionId: 'a', ...about(now) });
    const { events } = run([openSession('a')]);
    given(...events)
      .when(renew(NOON + SESSION_MS / 2))
      .thenNothing();
    given(...events)
      .when(renew(NOON + SESSION_MS))
      .thenNothing();
    const later = NOON + SESSION_MS / 2 + 1;
    const session = sessionOf(after(run([renew(later)], events).events), 'a', later);
    expect(session?.expiresAt).to.equal(later + SESSION_MS);
    expect(session && needsRenewal(session, later)).to.equal(false);
  });

  it('keeps other sessions of the address, without expired ones', () => {
    const { state } = run([openSession('a'), openSession('b')]);
    expect(sessionOf(state, 'a', NOON)).not.to.equal(undefined);
    const later = NOON + SESSION_MS;
    const { state: then } = run([openSession('c'), openSession('d', later)]);
    expect(then.sessions.map(({ sessionId }) => sessionId)).to.deep.equal(['d']);
  });

  it('ends one session only', () => {
    const { events } = run([
      openSession('a'),
      openSession('b'),
      { type: 'EndSession', sessionId: 'a', ...about(NOON) },
    ]);
    const state = after(events);
    expect(sessionOf(state, 'a', NOON)).to.equal(undefined);
    expect(sessionOf(state, 'b', NOON)?.email).to.equal('ada@example.com');
    expect(sessionOf(state, 'b', NOON + SESSION_MS)).to.equal(undefined);
  });
});
