/** Reports equal a naive count over all hits, with bounded lists. */

import { expect } from 'chai';
import fc from 'fast-check';
import type { Hit } from '../../../domain/analytics/catalog.js';
import {
  BOUNDS,
  count,
  type DayCounts,
  deserializeDay,
  emptyDay,
  serializeDay,
  summaryOf,
} from '../../../domain/analytics/day.js';
import { OTHER } from '../../../domain/analytics/frequent-values.js';
import { buildReport, daysOf, lastDays, previousPeriod } from '../../../domain/analytics/report.js';
import { talliesOf } from '../../support/analytics-fixtures.js';

const NOW = Date.UTC(2026, 10, 22, 12);

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
const all = [...daysOf(previousPeriod(period)), ...daysOf(period)];
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

describe('a computed report', () => {
  const report = (days: ReadonlyMap<string, DayCounts>, of = period, isPreviousComplete = true, limit?: number) => {
    const { lists, names } = talliesOf(days);
    const steps = buildReport(of, {
      summaries: (day) => (days.has(day) ? summaryOf(days.get(day)!) : undefined),
      lists: (day) => lists.get(day),
      names,
      isPreviousComplete,
      ...(limit !== undefined && { limit }),
    });
    for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
  };

  it('equals a naive count over all hits, even after days were serialized', () => {
    fc.assert(
      fc.property(happened, (events) => {
        const days = new Map<string, DayCounts>();
        for (const { day, hit, visitor } of events) {
          const counts = days.has(day)
            ? deserializeDay(JSON.parse(JSON.stringify(serializeDay(days.get(day)!))))
            : emptyDay();
          count(counts, [hit], [`${visitor}`.padStart(16, '0')], NOW);
          days.set(day, counts);
        }
        const result = report(days);
        const within = events.filter(({ day }) => daysOf(period).includes(day));
        const earlier = events.filter(({ day }) => !daysOf(period).includes(day));
        const totals = (some: typeof events) => ({
          pageviews: some.filter(({ hit }) => hit.event === undefined).length,
          events: some.filter(({ hit }) => hit.event !== undefined).length,
          uniques: new Set(some.map(({ day, visitor }) => `${day} ${visitor}`)).size,
        });
        expect(result.totals).to.deep.equal(totals(within));
        expect(result.comparison.previous).to.deep.equal({ ...totals(earlier), complete: true });
        expect(result.comparison.previousLastDay).to.deep.equal(
          totals(earlier.filter(({ day }) => day === daysOf(previousPeriod(period)).at(-1))),
        );
        expect(result.series).to.deep.equal(
          daysOf(period).map((date) => ({ date, ...totals(within.filter(({ day }) => day === date)) })),
        );
        const of = (pick: (hit: Hit) => string | undefined) => tally(within.map(({ hit }) => pick(hit)));
        expect(result.pages).to.deep.equal(of(({ event, path }) => (event === undefined ? path : undefined)));
        expect(result.events).to.deep.equal(of(({ event }) => event));
        expect(result.referrers).to.deep.equal(
          of(({ referrer, event }) => referrer ?? (event === undefined ? '(direct)' : undefined)),
        );
        for (const [list, field] of [
          ['browsers', 'browser'],
          ['os', 'os'],
          ['devices', 'device'],
        ] as const)
          expect(result[list], list).to.deep.equal(of((each) => each[field] ?? '(unknown)'));
        expect(result.countries).to.deep.equal(of(({ country }) => country));
        const campaigns = result.campaigns.map(({ source, medium, count: times }) => ({
          name: `${source} ${medium}`,
          count: times,
        }));
        expect(campaigns).to.have.deep.members(
          of(({ campaign }) => campaign && `${campaign.source} ${campaign.medium}`).slice(0, 20),
        );
        for (const { category, id, total, values } of result.trends) {
          expect(values.map(({ date }) => date)).to.deep.equal(daysOf(period));
          expect(
            values.reduce((sum, each) => sum + each.count, 0),
            `${category} ${id}`,
          ).to.equal(total);
        }
      }),
    );
  });

  it('gives changes in percent, or null without a comparable period', () => {
    const day = (views: number) => {
      const counts = emptyDay();
      count(
        counts,
        Array.from({ length: views }, () => ({ path: '/' })),
        [],
        NOW,
      );
      return counts;
    };
    const one = lastDays(1, NOW);
    const comparison = (then: number, now: number, isComplete = true) =>
      report(
        new Map([
          ['2026-11-21', day(then)],
          ['2026-11-22', day(now)],
        ]),
        one,
        isComplete,
      ).comparison;
    const delta = (then: number, now: number) => comparison(then, now).delta.pageviews;
    expect([delta(3, 4), delta(4, 3), delta(0, 0), delta(0, 3), delta(3, 0)]).to.deep.equal([33, -25, 0, null, -100]);
    for (const [then, now] of [
      [3, 4],
      [0, 0],
    ] as const)
      expect(comparison(then, now, false)).to.deep.equal({
        previous: { pageviews: then, events: 0, uniques: 0, complete: false },
        previousLastDay: { pageviews: then, events: 0, uniques: 0 },
        delta: { pageviews: null, events: null, uniques: null },
      });
  });

  it('has the hours of a single day', () => {
    const counts = emptyDay();
    const at = (hour: number) => Date.UTC(2026, 10, 22, hour, 59);
    count(counts, [{ path: '/' }, { path: '/', event: 'buy' }], [], at(0));
    count(counts, [{ path: '/' }], [], at(0));
    count(counts, [{ path: '/' }], [], at(23));
    const days = new Map([['2026-11-22', deserializeDay(JSON.parse(JSON.stringify(serializeDay(counts))))]]);
    const { hours = [] } = report(days, lastDays(1, NOW));
    expect(hours).to.have.lengthOf(24);
    expect([hours[0], hours[1], hours[23]]).to.deep.equal([
      { pageviews: 2, events: 1 },
      { pageviews: 0, events: 0 },
      { pageviews: 1, events: 0 },
    ]);
    expect(report(days)).not.to.have.property('hours');
  });

  it('lists the top twenty, ties ordered by name, and ten trends', () => {
    const counts = emptyDay();
    for (let n = 0; n < 30; n++) count(counts, [{ path: `/${String(n).padStart(2, '0')}` }], [], NOW);
    count(counts, [{ path: '/29' }], [], NOW);
    const { pages, trends } = report(new Map([['2026-11-22', counts]]));
    expect(pages.map(({ name }) => name)).to.deep.equal([
      '/29',
      ...Array.from({ length: 19 }, (_, n) => `/${String(n).padStart(2, '0')}`),
    ]);
    expect(trends.filter(({ category }) => category === 'pages')).to.have.lengthOf(10);
    const longer = report(new Map([['2026-11-22', counts]]), period, true, 25);
    expect(longer.pages.slice(0, 20)).to.deep.equal(pages);
    expect(longer.pages).to.have.lengthOf(25);
    expect(longer.trends).to.deep.equal(trends);
  });

  const views = (path: string, times = 1): Hit[] => Array.from({ length: times }, () => ({ path }));
  const dayOf = (...hits: readonly Hit[]) => {
    const counts = emptyDay();
    count(counts, hits, [], NOW);
    return counts;
  };

  it('lists a frequent page first, despite many unique paths before or in between', () => {
    const invented = Array.from({ length: 1200 }, (_, n) => ({ path: `/invented/${n}` }));
    const [first] = report(new Map([['2026-11-22', dayOf(...invented, ...views('/real', 500))]])).pages;
    expect(first).to.deep.equal({ name: '/real', count: 500 });
    const products = Array.from({ length: 3000 }, (_, n) => [{ path: `/p/${n}` }, ...views('/home', n % 3)]);
    const day = dayOf(...products.flat());
    expect(report(new Map([['2026-11-22', day]])).pages[0]?.name).to.equal('/home');
  });

  it('keeps frequent values in each list', () => {
    const hitOf = (n: number | string): Hit => ({
      path: `/${n}`,
      referrer: `https://${n}.example`,
      campaign: { source: `${n}`, medium: '', campaign: '' },
      browser: `b${n}`,
      os: `o${n}`,
      device: `d${n}`,
      country: `c${n}`,
    });
    const eventOf = (n: number | string): Hit => ({
      ...hitOf(n),
      event: `${n}`,
      properties: [{ name: 'plan', value: `${n}` }],
    });
    const all = [
      ...Array.from({ length: 1500 }, (_, n) => [hitOf(n), eventOf(n)]).flat(),
      ...Array.from({ length: 20 }, () => [hitOf('real'), eventOf('real')]).flat(),
    ];
    const result = report(new Map([['2026-11-22', dayOf(...all)]]));
    const firsts = [
      result.pages[0]?.name,
      result.events[0]?.name,
      result.referrers[0]?.name,
      result.campaigns[0]?.source,
      result.browsers[0]?.name,
      result.os[0]?.name,
      result.devices[0]?.name,
      result.countries[0]?.name,
      result.properties[0]?.value,
    ];
    for (const first of firsts) expect(first).to.include('real');
    expect(result.trends.find(({ category }) => category === 'pages')).to.include({ id: '/real', total: 20 });
  });

  it('counts values evicted from a full list as "other", listed last, without changing totals', () => {
    const hit = (n: number): Hit => ({
      path: `/${n}`,
      campaign: { source: `s${n}`, medium: '', campaign: '' },
      ...(n % 2 && { event: `e${n}` }),
    });
    const day = dayOf(...Array.from({ length: 5000 }, (_, n) => hit(n)));
    for (const [list, hits] of [
      ['pages', 2500],
      ['events', 2500],
      ['campaigns', 5000],
    ] as const) {
      expect(day.lists[list].size, list).to.equal(BOUNDS.values);
      const counts = day.lists[list].serialize().map(([, times]) => times);
      expect(
        counts.reduce((sum, each) => sum + each),
        list,
      ).to.equal(hits);
    }
    const { pages, totals, campaigns, properties } = report(new Map([['2026-11-22', day]]));
    expect(pages).to.have.lengthOf(20);
    expect(pages.at(-1)).to.deep.equal({ name: OTHER, count: 1500 });
    expect(campaigns.at(-1)).to.deep.equal({ source: OTHER, medium: '', campaign: '', count: 4000 });
    expect(properties).to.deep.equal([]);
    expect(totals).to.include({ pageviews: 2500, events: 2500 });
  });

  it('bounds lists by characters, even after days were serialized', () => {
    let counts = emptyDay();
    const long = (n: number) => `/${n}/${'x'.repeat(290)}`;
    for (let n = 0; n < 900; n++) {
      count(counts, [{ path: long(n) }], [], NOW);
      if (n % 100 === 99) counts = deserializeDay(JSON.parse(JSON.stringify(serializeDay(counts))));
    }
    const written = counts.lists.pages.serialize();
    const characters = written.flatMap(([name]) => (name === OTHER ? [] : name)).join('').length;
    expect(characters).to.be.within(BOUNDS.characters - 300, BOUNDS.characters);
    expect(written.reduce((sum, [, times]) => sum + times, 0)).to.equal(900);
    count(counts, views('/real', 10), [], NOW);
    expect(report(new Map([['2026-11-22', counts]])).pages[0]).to.deep.equal({ name: '/real', count: 10 });
  });

  it('keeps a visitor sketch unchanged when serialized', () => {
    const counts = emptyDay();
    const visitors = Array.from(
      { length: 5000 },
      (_, n) => Math.imul(n, 0x9e3779b1).toString(16).slice(-8).padStart(8, '0') + n.toString(16).padStart(8, '0'),
    );
    count(counts, [], visitors, NOW);
    expect(deserializeDay(JSON.parse(JSON.stringify(serializeDay(counts)))).visitors).to.deep.equal(counts.visitors);
  });
});
