/** Dashboard login: one valid link at a time, used once; sessions with sliding expiry. */
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
const requestLogin = (linkId: string, now = NOON): LoginCommand => ({
  type: 'RequestLogin',
  linkId,
  email: 'ada@example.com',
  ...about(now),
});
const openSession = (linkId: string, now = NOON): LoginCommand => ({
  type: 'OpenSession',
  linkId,
  sessionId: `of-${linkId}`,
  ...about(now),
});
const { run, given, after } = specOf(login);
const givenCommands = (...commands: readonly LoginCommand[]) => given(...run(commands).events);

describe('dashboard login', () => {
  it('accepts a link once, until it expires or a newer one is requested', () => {
    givenCommands(requestLogin('a'))
      .when(openSession('a', NOON + LINK_MS))
      .thenRejected('analytics/bad-link');
    givenCommands(requestLogin('a'), requestLogin('b')).when(openSession('a')).thenRejected('analytics/bad-link');
    givenCommands(requestLogin('a'), openSession('a')).when(openSession('a')).thenRejected('analytics/bad-link');
    const { events } = run([requestLogin('a'), openSession('a', NOON + LINK_MS - 1)]);
    expect(events.at(-1)?.data).to.deep.include({ secret: { email: 'ada@example.com' } });
  });

  it('silently limits emails to five per 15 minutes', () => {
    const five = ['a', 'b', 'c', 'd', 'e'].map((linkId) => requestLogin(linkId));
    givenCommands(...five)
      .when(requestLogin('f'))
      .thenNothing();
    expect(run([...five, requestLogin('f', NOON + LINK_MS)]).events).to.have.length(6);
  });

  it('renews a session in the second half of its life, and no expired one', () => {
    const renew = (now: number): LoginCommand => ({ type: 'RenewSession', sessionId: 'of-a', ...about(now) });
    const { events } = run([requestLogin('a'), openSession('a')]);
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

  it('keeps the times of emails of the last 15 minutes only', () => {
    const { state } = run(Array.from({ length: 100 }, (_, n) => requestLogin(`${n}`, NOON + n * LINK_MS)));
    expect(state.recent).to.deep.equal([NOON + 99 * LINK_MS]);
  });

  it('keeps other sessions of the address, without expired ones', () => {
    const { state } = run([requestLogin('a'), openSession('a'), requestLogin('b'), openSession('b')]);
    expect(sessionOf(state, 'of-a', NOON)).not.to.equal(undefined);
    const later = NOON + SESSION_MS;
    const { state: then } = run([
      requestLogin('c'),
      openSession('c'),
      requestLogin('d', later),
      openSession('d', later),
    ]);
    expect(then.sessions.map(({ sessionId }) => sessionId)).to.deep.equal(['of-d']);
  });

  it('ends one session only', () => {
    const { events } = run([
      requestLogin('a'),
      openSession('a'),
      requestLogin('b'),
      openSession('b'),
      { type: 'EndSession', sessionId: 'of-a', ...about(NOON) },
    ]);
    const state = after(events);
    expect(sessionOf(state, 'of-a', NOON)).to.equal(undefined);
    expect(sessionOf(state, 'of-b', NOON)?.email).to.equal('ada@example.com');
    expect(sessionOf(state, 'of-b', NOON + SESSION_MS)).to.equal(undefined);
  });
});
