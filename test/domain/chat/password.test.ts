/** Password changes and password rules. */
import { expect } from 'chai';
import { isPassword, password } from '../../../domain/chat/password.js';
import { passwordSet, setPassword } from '../../support/chat-user-fixtures.js';
import { specOf } from '../../support/decider-spec.js';

const { given, after } = specOf(password);

describe('a password', () => {
  it('can be set and changed', () => {
    given().when(setPassword()).then(passwordSet());
    given(passwordSet())
      .when(setPassword({ hash: 'new' }))
      .then(passwordSet({ salt: 'salt', hash: 'new' }));
  });

  it('is not overwritten by the initial password', () => {
    given()
      .when(setPassword({ isFirst: true }))
      .then(passwordSet());
    given(passwordSet())
      .when(setPassword({ isFirst: true, hash: 'new' }))
      .thenNothing();
  });

  it('is undefined after erasure', () => {
    expect(after([passwordSet(), passwordSet({ salt: '', hash: '' })])).to.equal(undefined);
  });

  it('has 8 to 1024 characters, counted by code point', () => {
    for (const good of ['12345678', '        ', '🦉'.repeat(8), 'x'.repeat(1024), '🦉'.repeat(1024)])
      expect(isPassword(good), good).to.equal(true);
    for (const bad of ['', '1234567', '🦉'.repeat(7), 'x'.repeat(1025), '🦉'.repeat(1025), 'x'.repeat(100_000)])
      expect(isPassword(bad), bad.slice(0, 20)).to.equal(false);
  });
});
