/** The event catalog of analytics: emitted events match their schemas, and stored versions stay readable. */
import { expect } from 'chai';
import { catalog, loginsSubject, siteSubject, visitorSubject } from '../../../domain/analytics/catalog.js';
import { hitsCollected, type Payload, parseVisit } from '../../../domain/analytics/hit.js';
import { retention } from '../../../domain/analytics/retention.js';
import { sites } from '../../../domain/analytics/sites.js';
import { visitors } from '../../../domain/analytics/visitor-keys.js';
import { weeklyMails } from '../../../domain/analytics/weekly-mail.js';
import { oneTimeLinks } from '../../../domain/shared/one-time-links.js';
import { sessions } from '../../../domain/shared/sessions.js';
import { changeSite, deleteSite, registerSite } from '../../support/analytics-fixtures.js';
import { specifyCatalog } from '../../support/catalog-spec.js';
import { specOf } from '../../support/decider-spec.js';

const ADA = { addressId: 'ada' };
const NOON = Date.UTC(2026, 10, 22, 12);
const SESSION = { userId: 'ada', sessionId: 's', now: NOON };
const LINK = { ...ADA, purpose: 'sign-in', linkId: 'l', now: NOON };
const allowed = ['plan', 'seats', 'trial'];
const payload: Payload = {
  site: 'demo',
  event: 'signup',
  path: '/pricing',
  referrer: 'https://news.example/1',
  campaign: { utm_source: 'news' },
  properties: { plan: 'pro', seats: 3, trial: true },
};
const seen = { browser: 'Firefox', os: 'Linux', device: 'desktop', country: 'DE' };
const hits = [
  { path: '/' },
  { ...parseVisit(payload, {}, { domains: [], allowedEventProperties: allowed })!.hit, ...seen },
];

describe('the event catalog of analytics', () => {
  specifyCatalog({
    catalog,
    emitted: [
      ...specOf(sites).run([
        registerSite('demo'),
        changeSite('demo', { tokenHash: 'hash' }),
        { type: 'ShareSite', siteId: 'demo', linkId: 'l', now: NOON },
        { type: 'UnshareSite', siteId: 'demo', now: NOON },
        deleteSite('demo'),
      ]).events,
      hitsCollected({ siteId: 'demo', instance: 'one' }, NOON, hits, ['00000000000000ff', '0000000000000001'], true),
      ...specOf(retention).run([
        { type: 'ExpireDays', before: '2026-10-22', rows: 3, raw: { before: NOON, rows: 2 }, now: NOON },
      ]).events,
      ...specOf(visitors).run([
        { type: 'OpenVisitorDay', day: '2026-11-22', before: '2026-11-22', now: NOON },
        { type: 'EndVisitorDays', before: '2026-11-23', now: NOON },
      ]).events,
      ...specOf(weeklyMails).run([
        {
          type: 'SubscribeWeeklyMail',
          subscriptionId: 's',
          siteId: 'demo',
          instance: 'one',
          addressId: 'ada',
          email: 'ada@example.com',
          timeZone: 'UTC',
          now: NOON,
        },
        { type: 'ClaimWeeklyMail', subscriptionId: 's', week: '2026-11-23', now: NOON },
        { type: 'UnsubscribeWeeklyMail', subscriptionId: 's', now: NOON },
      ]).events,
      ...specOf(oneTimeLinks('analytics')).run([
        { type: 'RequestLink', expiresAt: NOON + 900_000, email: 'ada@example.com', ...LINK },
        { type: 'RecordMail', isSent: true, ...LINK },
        { type: 'SpendLink', ...LINK },
      ]).events,
      ...specOf(sessions<{ readonly email: string }>('analytics')).run([
        { type: 'OpenSession', expiresAt: NOON + 1000, most: 3, secret: { email: 'ada@example.com' }, ...SESSION },
        { type: 'RefreshSession', generation: 0, expiresAt: NOON + 2000, ...SESSION },
        { type: 'EndSession', reason: 'logout', ...SESSION },
      ]).events,
    ],
    subjectOf: ({ expiresAt, subscriptionId }) =>
      expiresAt !== undefined
        ? `analytics.logins-${Math.floor((expiresAt as number) / 86_400_000)}`
        : subscriptionId !== undefined
          ? `analytics.subscription-${subscriptionId}`
          : siteSubject({ instance: 'one' }),
    ending: ['SiteDeleted', 'VisitorDayEnded', 'WeeklyMailUnsubscribed'],
    optional: { LinkRequested: ['userId'], SiteDeleted: ['days'], HitsCollected: ['isRaw'] },
  });

  it('encrypts an email with the key of the day on which its purpose expires', () => {
    expect(loginsSubject({ expiresAt: NOON + 900_000 })).to.equal(`analytics.logins-${NOON / 86_400_000 - 0.5}`);
  });

  it('erases the key of a deleted site and of an ended visitor day', () => {
    const { SiteDeleted, VisitorDayEnded } = catalog.events;
    const deleted = { siteId: 'demo', instance: 'one', registeredAt: 0, deletedAt: 0 };
    expect(SiteDeleted.erases(deleted)).to.equal('analytics.site-one');
    const ended = { day: '2026-11-22', endedAt: 0 };
    expect(VisitorDayEnded.erases(ended)).to.equal(visitorSubject(ended)).and.equal('analytics.visitors-2026-11-22');
  });

  it('counts views and events, and sorts visitors so that they cannot be linked to hits', () => {
    const { data } = hitsCollected({ siteId: 'demo', instance: 'one' }, NOON, hits, ['b', 'a']);
    expect(data).to.deep.include({ day: '2026-11-22', views: 1, events: 1 });
    expect(data.secret.visitors).to.deep.equal(['a', 'b']);
  });
});
