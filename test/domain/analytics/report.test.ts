/** Reports: what was counted of days is what a naive count over their hits gives, in bounded lists. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { Hit } from '../../../domain/analytics/catalog.js';
import {
  count,
  type DayCounts,
  emptyDay,
  MOST_CHARACTERS,
  MOST_VALUES,
  OTHER,
  readDay,
  summaryOf,
  writtenDay,
} from '../../../domain/analytics/day.js';
import { before, between, daysOf, lastDays } from '../../../domain/analytics/period.js';
import { reportOf } from '../../../domain/analytics/report.js';
import { talliesOf } from '../../support/analytics.js';

const NOW = Date.UTC(2026, 10, 22, 12);

describe('a period', () => {
  it('is of so many days, today included', () => {
    expect(lastDays(7, NOW)).to.deep.equal({ days: 7, start: '2026-11-16', end: '2026-11-22' });
    expect(lastDays(1, NOW)).to.deep.equal({ days: 1, start: '2026-11-22', end: '2026-11-22' });
    expect(lastDays(1000, NOW)).to.deep.equal({ days: 730, start: '2024-11-23', end: '2026-11-22' });
  });

  it('goes from a day to a day', () => {
    expect(between('2026-02-27', '2026-03-01')).to.deep.equal({
      days: 3,
      start: '2026-02-27',
      end: '2026-03-01',
    });
    for (const [start, end] of [
      ['2026-02-30', '2026-03-01'],
      ['2026-13-01', '2026-13-02'],
      ['2026-03-01', '2026-02-27'],
      ['2020-01-01', '2026-01-01'],
      ['1', '2'],
      ['2026-11-22T00', '2026-11-22'],
    ])
      expect(between(start!, end!), `${start} ${end}`).to.equal(undefined);
  });

  it('is compared with the one before', () => {
    expect(before(lastDays(7, NOW))).to.deep.equal({ days: 7, start: '2026-11-09', end: '2026-11-15' });
  });
});

const word = fc.constantFrom('a', 'b', 'c', 'd');
const value = fc.oneof(word, fc.integer({ min: 0, max: 3 }), fc.boolean());
const hits: fc.Arbitrary<Hit> = fc.record(
  {
    path: word.map((each) => `/${each}`),
    event: word,
    referrer: word,
    campaign: fc.record({ source: word, medium: word, campaign: fc.constant('') }),
    browser: word,
    os: word,
    device: word,
    country: word,
    properties: fc.array(fc.record({ name: word, value }), { maxLength: 2 }),
  },
  { requiredKeys: ['path'] },
) as fc.Arbitrary<Hit>;
const period = lastDays(3, NOW);
const all = [...daysOf(before(period)), ...daysOf(period)];
const happened = fc.array(
  fc.record({ day: fc.constantFrom(...all), hit: hits, visitor: fc.integer({ min: 0, max: 5 }) }),
  { maxLength: 80 },
);

const tally = (values: readonly (string | undefined)[]) => {
  const counts = new Map<string, number>();
  for (const each of values) if (each !== undefined) counts.set(each, (counts.get(each) ?? 0) + 1);
  return [...counts]
    .map(([name, times]) => ({ name, count: times }))
    .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
};

describe('a report', () => {
  const report = (days: ReadonlyMap<string, DayCounts>, of = period) => {
    const { lists, names } = talliesOf(days);
    const steps = reportOf(of, {
      summaries: (day) => (days.has(day) ? summaryOf(days.get(day)!) : undefined),
      lists: (day) => lists.get(day),
      names,
    });
    for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
  };

  it('tells what a count over all hits tells, also after days were written and read', () => {
    fc.assert(
      fc.property(happened, (events) => {
        const days = new Map<string, DayCounts>();
        for (const { day, hit, visitor } of events) {
          const counts = days.has(day)
            ? readDay(JSON.parse(JSON.stringify(writtenDay(days.get(day)!))))
            : emptyDay();
          count(counts, [hit], [`${visitor}`.padStart(16, '0')]);
          days.set(day, counts);
        }
        const told = report(days);
        const within = events.filter(({ day }) => daysOf(period).includes(day));
        const earlier = events.filter(({ day }) => !daysOf(period).includes(day));
        const totals = (some: typeof events) => ({
          pageviews: some.filter(({ hit }) => hit.event === undefined).length,
          events: some.filter(({ hit }) => hit.event !== undefined).length,
          uniques: new Set(some.map(({ day, visitor }) => `${day} ${visitor}`)).size,
        });
        expect(told.totals).to.deep.equal(totals(within));
        expect(told.comparison.previous).to.deep.equal(totals(earlier));
        expect(told.series).to.deep.equal(
          daysOf(period).map((date) => ({ date, ...totals(within.filter(({ day }) => day === date)) })),
        );
        const of = (pick: (hit: Hit) => string | undefined) => tally(within.map(({ hit }) => pick(hit)));
        expect(told.pages).to.deep.equal(of(({ event, path }) => (event === undefined ? path : undefined)));
        expect(told.events).to.deep.equal(of(({ event }) => event));
        expect(told.referrers).to.deep.equal(of(({ referrer }) => referrer));
        expect(told.browsers).to.deep.equal(of(({ browser }) => browser));
        expect(told.os).to.deep.equal(of(({ os }) => os));
        expect(told.devices).to.deep.equal(of(({ device }) => device));
        expect(told.countries).to.deep.equal(of(({ country }) => country));
        const campaigns = told.campaigns.map(({ source, medium, count: times }) => ({
          name: `${source} ${medium}`,
          count: times,
        }));
        expect(campaigns).to.have.deep.members(
          of(({ campaign }) => campaign && `${campaign.source} ${campaign.medium}`).slice(0, 20),
        );
        for (const { category, id, total, values } of told.trends) {
          expect(values.map(({ date }) => date)).to.deep.equal(daysOf(period));
          expect(
            values.reduce((sum, each) => sum + each.count, 0),
            `${category} ${id}`,
          ).to.equal(total);
        }
      }),
    );
  });

  it('tells the change in whole percent, or that there was nothing to compare with', () => {
    const day = (views: number) => {
      const counts = emptyDay();
      count(
        counts,
        Array.from({ length: views }, () => ({ path: '/' })),
        [],
      );
      return counts;
    };
    const one = lastDays(1, NOW);
    const delta = (then: number, now: number) =>
      report(
        new Map([
          ['2026-11-21', day(then)],
          ['2026-11-22', day(now)],
        ]),
        one,
      ).comparison.delta.pageviews;
    expect([delta(3, 4), delta(4, 3), delta(0, 0), delta(0, 3), delta(3, 0)]).to.deep.equal([
      33,
      -25,
      0,
      null,
      -100,
    ]);
  });

  it('shows twenty of a list, highest first and then by name, and ten of a trend', () => {
    const counts = emptyDay();
    for (let n = 0; n < 30; n++) count(counts, [{ path: `/${String(n).padStart(2, '0')}` }], []);
    count(counts, [{ path: '/29' }], []);
    const { pages, trends } = report(new Map([['2026-11-22', counts]]));
    expect(pages.map(({ name }) => name)).to.deep.equal([
      '/29',
      ...Array.from({ length: 19 }, (_, n) => `/${String(n).padStart(2, '0')}`),
    ]);
    expect(trends).to.have.lengthOf(10);
  });

  it('counts what is beyond a thousand values of a day under one name, and loses nothing', () => {
    const counts = emptyDay();
    for (let n = 0; n < 5000; n++)
      count(
        counts,
        [
          {
            path: `/${n}`,
            event: n % 2 ? `e${n}` : undefined!,
            campaign: { source: `s${n}`, medium: '', campaign: '' },
          },
        ].map(({ event, ...hit }) => (event ? { ...hit, event } : hit)),
        [],
      );
    count(counts, [{ path: '/0' }], []);
    for (const list of ['pages', 'events', 'campaigns'] as const) {
      expect(counts.lists[list].size, list).to.be.within(MOST_VALUES, MOST_VALUES + 1);
      expect(counts.lists[list].get(OTHER), list).to.be.greaterThan(1000);
    }
    expect(counts.lists.pages.get('/0')).to.equal(2);
    const { pages, totals, campaigns } = report(new Map([['2026-11-22', counts]]));
    expect(pages[0]).to.deep.equal({ name: OTHER, count: 1500 });
    expect(campaigns[0]).to.deep.equal({ source: OTHER, medium: '', campaign: '', count: 4000 });
    expect(totals).to.include({ pageviews: 2501, events: 2500 });
  });

  it('is of bounded lists however long their values are, also after days were written and read', () => {
    let counts = emptyDay();
    const long = (n: number) => `/${n}/${'x'.repeat(290)}`;
    for (let n = 0; n < 900; n++) {
      count(counts, [{ path: long(n) }], []);
      if (n % 100 === 99) counts = readDay(JSON.parse(JSON.stringify(writtenDay(counts))));
    }
    const names = [...counts.lists.pages.keys()].filter((name) => name !== OTHER);
    const characters = names.join('').length;
    expect(characters).to.be.within(MOST_CHARACTERS - 300, MOST_CHARACTERS);
    expect(counts.lists.pages.get(OTHER)).to.equal(900 - names.length);
    count(counts, [{ path: long(0) }], []);
    expect(counts.lists.pages.get(long(0))).to.equal(2);
  });

  it('keeps a sketch of many visitors as it is', () => {
    const counts = emptyDay();
    const crowd = Array.from(
      { length: 5000 },
      (_, n) =>
        Math.imul(n, 0x9e3779b1).toString(16).slice(-8).padStart(8, '0') + n.toString(16).padStart(8, '0'),
    );
    count(counts, [], crowd);
    expect(readDay(JSON.parse(JSON.stringify(writtenDay(counts)))).visitors).to.deep.equal(counts.visitors);
  });
});
