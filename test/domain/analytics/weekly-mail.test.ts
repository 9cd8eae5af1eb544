/** Weekly mails: one subscription per site and address, and one mail per week, from the next Monday on. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  dueWeek,
  MAX_SUBSCRIPTIONS,
  periodOfWeek,
  type WeeklyMailsCommand,
  weeklyMails,
} from '../../../domain/analytics/weekly-mail.js';
import { specOf } from '../../support/decider-spec.js';

const { given } = specOf(weeklyMails);

/** A Sunday. */
const NOW = Date.UTC(2026, 10, 22, 12);
const ada = { siteId: 'demo', instance: 'one', addressId: 'ada', email: 'ada@example.com', timeZone: 'Europe/Berlin' };
const subscribe = (subscriptionId: string, more: Partial<typeof ada> = {}): WeeklyMailsCommand => ({
  type: 'SubscribeWeeklyMail',
  subscriptionId,
  ...ada,
  ...more,
  now: NOW,
});
const claim = (week: string): WeeklyMailsCommand => ({ type: 'ClaimWeeklyMail', subscriptionId: 's', week, now: NOW });
const unsubscribe: WeeklyMailsCommand = { type: 'UnsubscribeWeeklyMail', subscriptionId: 's', now: NOW };
const { email, timeZone, ...of } = ada;
const subscribed = {
  type: 'WeeklyMailSubscribed',
  data: { subscriptionId: 's', ...of, week: '2026-11-16', subscribedAt: NOW, secret: { email, timeZone } },
} as const;
const claimed = {
  type: 'WeeklyMailClaimed',
  data: { subscriptionId: 's', week: '2026-11-23', claimedAt: NOW },
} as const;
const unsubscribed = {
  type: 'WeeklyMailUnsubscribed',
  data: { subscriptionId: 's', unsubscribedAt: NOW },
} as const;

describe('a subscription to weekly mails', () => {
  it('begins with the next Monday', () => {
    given().when(subscribe('s')).then(subscribed);
    given(subscribed).when(claim('2026-11-16')).thenNothing();
    given(subscribed).when(claim('2026-11-23')).then(claimed);
  });

  it('is one per site and address', () => {
    given(subscribed).when(subscribe('t')).thenNothing();
    const other = (more: Partial<typeof ada>) => ({
      ...subscribed,
      data: { ...subscribed.data, ...more, subscriptionId: 't' },
    });
    given(subscribed)
      .when(subscribe('t', { instance: 'two' }))
      .then(other({ instance: 'two' }));
    given(subscribed)
      .when(subscribe('t', { addressId: 'bob' }))
      .then(other({ addressId: 'bob' }));
    given(subscribed, unsubscribed).when(subscribe('t')).then(other({}));
  });

  it('claims each week once, and no earlier one', () => {
    for (const week of ['2026-11-23', '2026-11-16']) given(subscribed, claimed).when(claim(week)).thenNothing();
    const { data } = claimed;
    given(subscribed, claimed)
      .when(claim('2027-01-04'))
      .then({ ...claimed, data: { ...data, week: '2027-01-04' } });
  });

  it('ends once, and claims nothing then', () => {
    given(subscribed).when(unsubscribe).then(unsubscribed);
    given(subscribed, unsubscribed).when(unsubscribe).thenNothing();
    given(subscribed, unsubscribed).when(claim('2026-11-23')).thenNothing();
    given().when(claim('2026-11-23')).thenNothing();
  });

  it('is one of a thousand at most', () => {
    let full = weeklyMails.initialState;
    for (let n = 0; n < MAX_SUBSCRIPTIONS; n++)
      full = weeklyMails.evolve.WeeklyMailSubscribed(full, {
        ...subscribed.data,
        subscriptionId: `s${n}`,
        addressId: `a${n}`,
      });
    expect(weeklyMails.decide(subscribe('s'), full)).to.include({ rejected: 'analytics/too-many-subscriptions' });
  });
});

describe('the week of a mail', () => {
  for (const [zone, before, from] of [
    ['UTC', '2026-11-23T07:59:59Z', '2026-11-23T08:00:00Z'],
    ['Mars/Olympus', '2026-11-23T07:59:59Z', '2026-11-23T08:00:00Z'],
    ['Europe/Berlin', '2026-11-23T06:59:59Z', '2026-11-23T07:00:00Z'],
    ['America/Los_Angeles', '2026-11-23T15:59:59Z', '2026-11-23T16:00:00Z'],
    ['Asia/Kolkata', '2026-11-23T02:29:59Z', '2026-11-23T02:30:00Z'],
    // Monday 8:00 in this zone is before the end of the week in UTC.
    ['Asia/Tokyo', '2026-11-22T23:59:59Z', '2026-11-23T00:00:00Z'],
    ['Pacific/Kiritimati', '2026-11-22T23:59:59Z', '2026-11-23T00:00:00Z'],
  ] as const)
    it(`is due on Monday at 8:00 in ${zone}, and not before the week is over in UTC`, () => {
      expect(dueWeek(Date.parse(before), zone)).to.equal('2026-11-16');
      expect(dueWeek(Date.parse(from), zone)).to.equal('2026-11-23');
    });

  it('is a Monday that only advances, and the week before it is over', () => {
    const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Tokyo', 'Pacific/Kiritimati');
    const instant = fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2040, 0) });
    fc.assert(
      fc.property(zones, instant, fc.integer({ min: 0, max: 8 * 86_400_000 }), (zone, now, later) => {
        const week = dueWeek(now, zone);
        expect(new Date(week).getUTCDay()).to.equal(1);
        expect(now - Date.parse(week)).to.be.within(0, 8 * 86_400_000);
        expect(dueWeek(now + later, zone) >= week).to.equal(true);
      }),
      { numRuns: 300 },
    );
  });

  it('is about the seven days before', () => {
    expect(periodOfWeek('2026-11-23')).to.deep.equal({ days: 7, start: '2026-11-16', end: '2026-11-22' });
  });
});
