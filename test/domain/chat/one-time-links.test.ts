/** The rules of links: the newest of a purpose, once, in its time; five mails in a quarter of an hour. */
import { expect } from 'chai';
import { address, linkWith } from '../../../domain/chat/one-time-links.js';
import {
  linkMailed,
  linkNotMailed,
  linkRequested,
  linkSpent,
  MINUTE,
  NOON,
  recordMail,
  requestLink,
  spendLink,
} from '../../support/chat-user-fixtures.js';
import { specOf } from '../../support/decider-spec.js';

const { given, after } = specOf(address);
const eve = { userId: undefined, email: 'eve@example.org' };

describe('the links of an address', () => {
  it('are asked for by users, and by those who may become one', () => {
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

  it('work within their time', () => {
    const life = 15 * MINUTE;
    given(linkRequested('one'))
      .when(spendLink('one', NOON + life - 1))
      .then(linkSpent('one', NOON + life - 1));
    given(linkRequested('one'))
      .when(spendLink('one', NOON + life))
      .thenRejected('chat/bad-link');
    const state = after([linkRequested('one')]);
    expect(linkWith(state, { purpose: 'magic-link', linkId: 'one', now: NOON + life })).to.equal(undefined);
  });

  it('are followed by a newer one of the same purpose, and by no other', () => {
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
    // What is told late of an older one changes nothing of the newer.
    given(linkRequested('one'), linkRequested('two'), linkSpent('one')).when(spendLink('two')).then(linkSpent('two'));
  });

  it('are five in a quarter of an hour, of whatever purpose; of more there is no word', () => {
    const five = [0, 1, 2, 3, 4].map((n) =>
      linkRequested(`${n}`, NOON + n * MINUTE, { purpose: n % 2 ? 'reset' : 'magic-link' }),
    );
    given(...five)
      .when(requestLink('six', NOON + 14 * MINUTE))
      .thenNothing();
    given(...five)
      .when(requestLink('six', NOON + 15 * MINUTE))
      .then(linkRequested('six', NOON + 15 * MINUTE));
    // A clock that was set back by an hour lets nobody wait for that hour.
    given(...five)
      .when(requestLink('six', NOON - 60 * MINUTE))
      .then(linkRequested('six', NOON - 60 * MINUTE));
    expect(after([...five, linkRequested('late', NOON + 60 * MINUTE)]).recent).to.have.length(1);
  });

  it('are told of once, when they were mailed, or never will be', () => {
    given(linkRequested('one')).when(recordMail('one', true)).then(linkMailed('one'));
    given(linkRequested('one')).when(recordMail('one', false)).then(linkNotMailed('one'));
    for (const done of [linkMailed('one'), linkNotMailed('one'), linkSpent('one'), linkRequested('two')])
      given(linkRequested('one'), done).when(recordMail('one', true)).thenNothing();
  });
});
