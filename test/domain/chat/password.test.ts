/** What is kept of a password, and what can be one. */
import { expect } from 'chai';
import { isPassword, password } from '../../../domain/chat/password.js';
import { passwordSet, setPassword } from '../../support/chat-user-fixtures.js';
import { specOf } from '../../support/decider-spec.js';

const { given, after } = specOf(password);

describe('a password', () => {
  it('is set, and set again', () => {
    given().when(setPassword()).then(passwordSet());
    given(passwordSet())
      .when(setPassword({ hash: 'new' }))
      .then(passwordSet({ salt: 'salt', hash: 'new' }));
  });

  it('is never written over by what is for the first start only', () => {
    given()
      .when(setPassword({ isFirst: true }))
      .then(passwordSet());
    given(passwordSet())
      .when(setPassword({ isFirst: true, hash: 'new' }))
      .thenNothing();
  });

  it('is none once it is erased', () => {
    expect(after([passwordSet(), passwordSet({ salt: '', hash: '' })])).to.equal(undefined);
  });

  it('is of 8 to 1024 characters, however many units they are written in', () => {
    for (const good of ['12345678', '        ', '🦉'.repeat(8), 'x'.repeat(1024), '🦉'.repeat(1024)])
      expect(isPassword(good), good).to.equal(true);
    for (const bad of ['', '1234567', '🦉'.repeat(7), 'x'.repeat(1025), '🦉'.repeat(1025), 'x'.repeat(100_000)])
      expect(isPassword(bad), bad.slice(0, 20)).to.equal(false);
  });
});
