/** What the start-up output says of how to get into the dashboard, and what is wrong with it. */
import { expect } from 'chai';
import { signInLine, unmailedLinks } from '../../bin/services/analytics/sign-in.js';
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
    expect(signInLine(values({}), 'made-here')).to.contain('made-here');
    const line = signInLine(values({ 'analytics.adminToken': 'given-token' }), 'given-token');
    expect(line).to.contain('analytics.adminToken').and.not.contain('given-token');
  });

  it('says where links go', () => {
    expect(signInLine(values({}), '')).to.match(/nobody, until analytics\.allowedEmails/);
    expect(signInLine(values({ ...ALLOWED, ...MAIL }), '')).to.match(/mails a link/);
    expect(signInLine(values(ALLOWED), '')).to.match(/told in this log/);
    expect(signInLine(values({ ...ALLOWED, ...PUBLIC }), '')).to.match(/reach nobody, as email\.host/);
  });

  it('warns where somebody may sign in by a link that nobody is sent', () => {
    expect(unmailedLinks(values({ ...ALLOWED, ...PUBLIC }))).to.match(/email\.host is not/);
    expect(unmailedLinks(values({ 'analytics.allowedEmails': ['ada@a.example'], ...PUBLIC }))).to.match(
      /email\.host is not/,
    );
    for (const fine of [PUBLIC, ALLOWED, { ...ALLOWED, ...PUBLIC, ...MAIL }])
      expect(unmailedLinks(values(fine)), JSON.stringify(fine)).to.equal(undefined);
  });
});
