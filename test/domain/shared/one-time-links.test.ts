/** One-time links: the newest per purpose is valid once until it expires; at most five emails in 15 minutes. */
import { expect } from 'chai';
import { oneTimeLinks, usableLink } from '../../../domain/shared/one-time-links.js';
import {
  linkMailed,
  linkRequested,
  linkSpent,
  MINUTE,
  NOON,
  recordMail,
  requestLink,
  spendLink,
} from '../../support/chat-user-fixtures.js';
import { specOf } from '../../support/decider-spec.js';

const { given, after } = specOf(oneTimeLinks('chat'));
const eve = { userId: undefined, email: 'eve@example.org' };

describe('the one-time links of an address', () => {
  it('can be requested for users and unknown addresses', () => {
    given().when(requestLink('one')).then(linkRequested('one'));
    given()
      .when(requestLink('one', NOON, eve))
      .then(linkRequested('one', NOON, eve));
  });

  it('work once', () => {
    given(linkRequested('one'))
      .when(spendLink('one', NOON + MINUTE))
      .then(linkSpent('one', NOON + MINUTE));
    given(linkRequested('one'), linkMailed('one')).when(spendLink('one')).then(linkSpent('one'));
    for (const events of [[], [linkRequested('one'), linkSpent('one')], [linkRequested('other')]])
      given(...events)
        .when(spendLink('one'))
        .thenRejected('chat/bad-link', { kind: 'unauthenticated' });
  });

  it('expire', () => {
    const life = 15 * MINUTE;
    given(linkRequested('one'))
      .when(spendLink('one', NOON + life - 1))
      .then(linkSpent('one', NOON + life - 1));
    given(linkRequested('one'))
      .when(spendLink('one', NOON + life))
      .thenRejected('chat/bad-link');
    const state = after([linkRequested('one')]);
    expect(usableLink(state, { purpose: 'magic-link', linkId: 'one', now: NOON + life })).to.equal(undefined);
  });

  it('are replaced by a newer one of the same purpose only', () => {
    given(linkRequested('one'), linkRequested('two')).when(spendLink('one')).thenRejected('chat/bad-link');
    given(linkRequested('one'), linkRequested('two')).when(spendLink('two')).then(linkSpent('two'));
    const both = [linkRequested('one'), linkRequested('two', NOON, { purpose: 'reset' })];
    given(...both)
      .when(spendLink('one'))
      .then(linkSpent('one'));
    given(...both)
      .when(spendLink('two'))
      .thenRejected('chat/bad-link');
    given(...both)
      .when(spendLink('two', NOON, 'reset'))
      .then(linkSpent('two', NOON, 'reset'));
    // A late event of an older link does not affect the newer one.
    given(linkRequested('one'), linkRequested('two'), linkSpent('one')).when(spendLink('two')).then(linkSpent('two'));
  });

  it('are silently limited to five in 15 minutes over all purposes', () => {
    const five = [0, 1, 2, 3, 4].map((n) =>
      linkRequested(`${n}`, NOON + n * MINUTE, { purpose: n % 2 ? 'reset' : 'magic-link' }),
    );
    given(...five)
      .when(requestLink('six', NOON + 14 * MINUTE))
      .thenNothing();
    given(...five)
      .when(requestLink('six', NOON + 15 * MINUTE))
      .then(linkRequested('six', NOON + 15 * MINUTE));
    // A clock set back by an hour does not block requests for an hour.
    given(...five)
      .when(requestLink('six', NOON - 60 * MINUTE))
      .then(linkRequested('six', NOON - 60 * MINUTE));
    expect(after([...five, linkRequested('seven', NOON + 60 * MINUTE)]).recent).to.have.length(1);
  });

  it('record once whether they were mailed', () => {
    given(linkRequested('one')).when(recordMail('one', true)).then(linkMailed('one'));
    given(linkRequested('one')).when(recordMail('one', false)).then(linkMailed('one', false));
    for (const done of [linkMailed('one'), linkMailed('one', false), linkSpent('one'), linkRequested('two')])
      given(linkRequested('one'), done).when(recordMail('one', true)).thenNothing();
  });
});
