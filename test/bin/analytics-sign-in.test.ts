/** Start-up notes and warnings about signing in to the dashboard. */
import { expect } from 'chai';
import { describeSignIn, unsentLinksWarning } from '../../bin/services/analytics/sign-in.js';
import type { AnnalsValues } from '../../bin/settings.js';

const values = (more: object) =>
  ({
    'analytics.allowedEmails': [],
    'analytics.allowedDomains': [],
    'auth.authMode': 'dev',
    ...more,
  }) as unknown as AnnalsValues;
const ALLOWED = { 'analytics.allowedDomains': ['team.example'] };
const MAIL = { 'email.host': 'smtp.example' };
const PUBLIC = { 'auth.authMode': 'password' };

describe('dashboard sign-in notes at start', () => {
  it('name a generated admin token, but never a configured one', () => {
    expect(describeSignIn(values({}), 'made-here')).to.contain('made-here');
    const line = describeSignIn(values({ 'analytics.adminToken': 'given-token' }), 'given-token');
    expect(line).to.contain('analytics.adminToken').and.not.contain('given-token');
  });

  it('name the address that sign-in links lead to', () => {
    expect(describeSignIn(values({}), '')).to.match(/disabled; set analytics\.allowedEmails/);
    expect(describeSignIn(values({ ...ALLOWED, ...MAIL }), '')).to.match(/emails sign-in links/);
    expect(describeSignIn(values(ALLOWED), '')).to.match(/printed in this log/);
    expect(describeSignIn(values({ ...ALLOWED, ...PUBLIC }), '')).to.match(/cannot be sent; set email\.host/);
  });

  it('warn when sign-in links are enabled but no mail can be sent', () => {
    expect(unsentLinksWarning(values({ ...ALLOWED, ...PUBLIC }))).to.match(/email\.host is not/);
    expect(unsentLinksWarning(values({ 'analytics.allowedEmails': ['ada@a.example'], ...PUBLIC }))).to.match(
      /email\.host is not/,
    );
    for (const fine of [PUBLIC, ALLOWED, { ...ALLOWED, ...PUBLIC, ...MAIL }])
      expect(unsentLinksWarning(values(fine)), JSON.stringify(fine)).to.equal(undefined);
  });
});
