/** Session rules: at most three, rotating refresh tokens, and 30 seconds of grace for concurrent refreshes. */
import { expect } from 'chai';
import { activeSessions, sessions } from '../../../domain/shared/sessions.js';
import { ended, MINUTE, NOON, open, opened, refresh, refreshed, WEEK } from '../../support/chat-user-fixtures.js';
import { specOf } from '../../support/decider-spec.js';

const { given, after } = specOf(sessions('chat'));
const SECOND = 1000;

describe('the sessions of one user', () => {
  it('are limited to three, and a new one supersedes the oldest', () => {
    const three = [opened('a', NOON), opened('b', NOON + 1), opened('c', NOON + 2)];
    given(...three.slice(0, 2))
      .when(open('c', NOON + 2))
      .then(opened('c', NOON + 2));
    given(...three)
      .when(open('d', NOON + 3))
      .then(ended('a', 'superseded', NOON + 3), opened('d', NOON + 3));
  });

  it('count only while they are not expired', () => {
    const later = NOON + WEEK;
    given(opened('a'), opened('b'), opened('c'), refreshed('c', 1, NOON + MINUTE))
      .when(open('d', later))
      .then(opened('d', later));
    const dead = { expiresAt: NOON + 1 };
    given(opened('a', NOON, dead))
      .when(refresh('a', 0, NOON + 1))
      .thenRejected('chat/session-ended');
  });

  it('keep the order of their start when refreshed', () => {
    const state = after([opened('a', NOON), opened('b', NOON + 1), refreshed('a', 1, NOON + MINUTE)]);
    expect(activeSessions(state, NOON).map(({ id }) => id)).to.deep.equal(['a', 'b']);
  });

  it('end when a password change opens a new one', () => {
    given(opened('a'), opened('b'))
      .when(open('c', NOON, { alone: true }))
      .then(ended('a', 'password'), ended('b', 'password'), opened('c'));
  });

  it('rotate their refresh token', () => {
    given(opened('a'))
      .when(refresh('a', 0, NOON + MINUTE))
      .then(refreshed('a', 1, NOON + MINUTE));
    given(opened('a'), refreshed('a', 1, NOON + MINUTE))
      .when(refresh('a', 1, NOON + 2 * MINUTE))
      .then(refreshed('a', 2, NOON + 2 * MINUTE));
  });

  it('accept the previous refresh token for 30 seconds, and end when it is reused later', () => {
    const events = [opened('a'), refreshed('a', 1, NOON + MINUTE)];
    for (const now of [NOON + MINUTE, NOON + MINUTE + 30 * SECOND])
      given(...events)
        .when(refresh('a', 0, now))
        .thenNothing();
    const reusedAt = NOON + MINUTE + 30 * SECOND + 1;
    given(...events)
      .when(refresh('a', 0, reusedAt))
      .then(ended('a', 'reused', reusedAt));
    given(...events, refreshed('a', 2, NOON + MINUTE + 1))
      .when(refresh('a', 0, NOON + MINUTE + 2))
      .then(ended('a', 'reused', NOON + MINUTE + 2));
  });

  it('cannot be refreshed after their end or with a future token', () => {
    given(opened('a'), ended('a', 'logout'))
      .when(refresh('a', 0, NOON))
      .thenRejected('chat/session-ended', {
        kind: 'unauthenticated',
      });
    given(opened('a'))
      .when(refresh('a', 1, NOON))
      .thenRejected('chat/session-ended');
    given()
      .when(refresh('a', 0, NOON))
      .thenRejected('chat/session-ended');
  });

  it('end individually, or all except one', () => {
    const about = { userId: 'ada', now: NOON };
    const three = [opened('a'), opened('b'), opened('c')];
    given(...three)
      .when({ type: 'EndSession', sessionId: 'b', reason: 'logout', ...about })
      .then(ended('b', 'logout'));
    given(...three)
      .when({ type: 'EndSession', sessionId: 'x', reason: 'logout', ...about })
      .thenNothing();
    given(...three)
      .when({ type: 'EndSessions', except: 'b', reason: 'revoked', ...about })
      .then(ended('a', 'revoked'), ended('c', 'revoked'));
    given(...three)
      .when({ type: 'EndSessions', reason: 'removed', ...about })
      .then(ended('a', 'removed'), ended('b', 'removed'), ended('c', 'removed'));
  });

  it('end if they started before a given time', () => {
    given(opened('a', NOON), opened('b', NOON + 1), opened('c', NOON + 2))
      .when({ type: 'EndSessions', before: NOON + 1, reason: 'password', userId: 'ada', now: NOON + 3 })
      .then(ended('a', 'password', NOON + 3));
  });

  it('are known from any of their events, since older ones may be expired from the log', () => {
    const state = after([refreshed('a', 5, NOON + MINUTE), ended('unknown', 'logout')]);
    expect(state.sessions).to.have.length(1);
    given(refreshed('a', 5, NOON + MINUTE))
      .when(refresh('a', 5, NOON + 2 * MINUTE))
      .then(refreshed('a', 6, NOON + 2 * MINUTE));
  });

  it('are dropped from the state once expired', () => {
    const state = after([opened('a'), opened('b', NOON + WEEK)]);
    expect(state.sessions.map(({ id }) => id)).to.deep.equal(['b']);
  });
});
