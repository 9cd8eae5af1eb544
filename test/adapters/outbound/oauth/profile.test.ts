/** User profiles from provider answers. */
import { expect } from 'chai';
import { emailOf, profileOf } from '../../../../adapters/outbound/oauth/client.js';

describe('a provider profile', () => {
  it("has email and name from each provider's own fields", () => {
    const email = 'ada@example.org';
    expect(profileOf({ sub: '1', email, email_verified: true, name: 'Ada' })).to.deep.equal({
      email,
      name: 'Ada',
    });
    expect(profileOf({ displayName: 'Ada', mail: email, userPrincipalName: 'ada@x' })).to.deep.equal({
      email,
      name: 'Ada',
    });
    expect(profileOf({ displayName: 'Ada', mail: null, userPrincipalName: email })).to.deep.equal({
      email,
      name: 'Ada',
    });
    expect(profileOf({ username: 'ada', name: 'Ada', email, confirmed_at: '2020-01-01' })).to.deep.equal({
      email,
      name: 'Ada',
    });
    expect(profileOf({ login: 'ada', name: null, email: null })).to.deep.equal({
      email: undefined,
      name: 'ada',
    });
    expect(profileOf({})).to.deep.equal({ email: undefined, name: undefined });
  });

  it('has the email that the provider verified, in whichever form', () => {
    for (const yes of [true, 'true', 1, '1'])
      expect(profileOf({ email: 'ada@example.org', email_verified: yes }).email).to.equal('ada@example.org');
  });

  it('has no unverified email', () => {
    for (const doubt of [
      { email_verified: false },
      { email_verified: 'false' },
      { email_verified: 0 },
      { email_verified: '' },
      { email_verified: 'no' },
      { email_verified: null },
      { email_verified: {} },
      { emailVerified: false },
      { emailVerified: 'false' },
      { emailVerified: 0 },
      { email_verified: true, emailVerified: false },
      { verified_email: false },
      { verified_email: 0 },
      { confirmed_at: null },
      { confirmed_at: false },
    ])
      expect(profileOf({ email: 'ada@example.org', ...doubt }).email, JSON.stringify(doubt)).to.equal(undefined);
  });

  it('has the primary address of a list if verified, else another verified one', () => {
    const [a, b] = [
      { email: 'a@x.org', primary: false, verified: true },
      { email: 'b@x.org', primary: true, verified: true },
    ];
    expect(emailOf([a, b])).to.equal('b@x.org');
    expect(emailOf([a, { ...b, verified: false }])).to.equal('a@x.org');
    for (const none of [[], [{ ...b, verified: false }], null, 'x', [null], { email: 'x' }])
      expect(emailOf(none)).to.equal(undefined);
  });
});
