/** What the start-up output says of how to get into the dashboard, and what is wrong with it. */
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

describe('signing in to the dashboard, as it is told at the start', () => {
  it('names the admin token that was made, and never one that was given', () => {
    expect(describeSignIn(values({}), 'made-here')).to.contain('made-here');
    const line = describeSignIn(values({ 'analytics.adminToken': 'given-token' }), 'given-token');
    expect(line).to.contain('analytics.adminToken').and.not.contain('given-token');
  });

  it('says where links go', () => {
    expect(describeSignIn(values({}), '')).to.match(/disabled; set analytics\.allowedEmails/);
    expect(describeSignIn(values({ ...ALLOWED, ...MAIL }), '')).to.match(/emails sign-in links/);
    expect(describeSignIn(values(ALLOWED), '')).to.match(/printed in this log/);
    expect(describeSignIn(values({ ...ALLOWED, ...PUBLIC }), '')).to.match(/can not be sent; set email\.host/);
  });

  it('warns where somebody may sign in by a link that nobody is sent', () => {
    expect(unsentLinksWarning(values({ ...ALLOWED, ...PUBLIC }))).to.match(/email\.host is not/);
    expect(unsentLinksWarning(values({ 'analytics.allowedEmails': ['ada@a.example'], ...PUBLIC }))).to.match(
      /email\.host is not/,
    );
    for (const fine of [PUBLIC, ALLOWED, { ...ALLOWED, ...PUBLIC, ...MAIL }])
      expect(unsentLinksWarning(values(fine)), JSON.stringify(fine)).to.equal(undefined);
  });
});
