/** Filtered reports equal a naive count over the hits that pass, and name the lists that are not available. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { Hit } from '../../../domain/analytics/catalog.js';
import {
  count,
  type DayCounts,
  deserializeDay,
  emptyDay,
  type Filters,
  serializeDay,
} from '../../../domain/analytics/day.js';
import { createFilteredReport, NOT_KEPT, parseFilters } from '../../../domain/analytics/filtered-report.js';
import { daysOf, lastDays, previousPeriod } from '../../../domain/analytics/report.js';
import { isRejection } from '../../../domain/shared/index.js';

const NOW = Date.UTC(2026, 10, 22, 12);
const period = lastDays(3, NOW);

const word = fc.constantFrom('a', 'b', '"c\\');
const hits: fc.Arbitrary<Hit> = fc.record(
  {
    path: word.map((each) => `/${each}`),
    event: word,
    referrer: word,
    isInternal: fc.constant(true),
    campaign: fc.record({ source: word, medium: word, campaign: fc.constant('') }),
    browser: word,
    country: word,
  },
  { requiredKeys: ['path'] },
) as fc.Arbitrary<Hit>;
const happened = fc.array(
  fc.record({ day: fc.constantFrom(...daysOf(previousPeriod(period)), ...daysOf(period)), hit: hits }),
  { maxLength: 80 },
);
const filters: fc.Arbitrary<Filters> = fc.record(
  {
    pages: word.map((each) => `/${each}`),
    events: word,
    referrers: word,
    entryPages: word.map((each) => `/${each}`),
    browsers: fc.oneof(word, fc.constant('(unknown)')),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Filters>;

const entryOf = ({ path, event, isInternal }: Hit) => (event === undefined && !isInternal ? path : undefined);
const passes = ({ pages, events, referrers, browsers, entryPages }: Filters, hit: Hit) =>
  isPassed({ pages, events, referrers, browsers }, hit) && (entryPages === undefined || entryPages === entryOf(hit));
const isPassed = ({ pages, events, referrers, browsers }: Filters, { path, event, referrer, browser }: Hit) =>
  (pages === undefined || pages === path) &&
  (events === undefined || events === event) &&
  (referrers === undefined || referrers === referrer) &&
  (browsers === undefined || browsers === (browser ?? '(unknown)'));

function reportOf(days: ReadonlyMap<string, DayCounts>, wanted: Filters, limit = 20) {
  const filtered = createFilteredReport(period, wanted, { limit, goals: ['a'] });
  for (const [day, counts] of days) filtered.add(day, serializeDay(counts).lists.combinations ?? []);
  return filtered.report(true);
}

describe('a filtered report', () => {
  it('equals a naive count over the hits that pass, even after days were serialized', () => {
    fc.assert(
      fc.property(happened, filters, (all, wanted) => {
        const days = new Map<string, DayCounts>();
        for (const { day, hit } of all) {
          const counts = days.has(day)
            ? deserializeDay(JSON.parse(JSON.stringify(serializeDay(days.get(day)!))))
            : emptyDay();
          count(counts, [hit], [], NOW);
          days.set(day, counts);
        }
        const report = reportOf(days, wanted);
        const passed = all.filter(({ hit }) => passes(wanted, hit));
        const within = passed.filter(({ day }) => daysOf(period).includes(day));
        const totals = (some: typeof all) => ({
          pageviews: some.filter(({ hit }) => hit.event === undefined).length,
          events: some.filter(({ hit }) => hit.event !== undefined).length,
          uniques: null,
        });
        expect(report.totals).to.deep.equal(totals(within));
        expect(report.comparison.previous).to.deep.equal({
          ...totals(passed.filter(({ day }) => !daysOf(period).includes(day))),
          complete: true,
        });
        expect(report.comparison.previousLastDay).to.deep.equal(
          totals(passed.filter(({ day }) => day === previousPeriod(period).end)),
        );
        expect(report.series).to.deep.equal(
          daysOf(period).map((date) => ({ date, ...totals(within.filter(({ day }) => day === date)) })),
        );
        const countsBy = (nameOf: (hit: Hit) => string | undefined) => {
          const counts = new Map<string, number>();
          for (const { hit } of within) {
            const name = nameOf(hit);
            if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
          }
          return Array.from(counts, ([name, times]) => ({ name, count: times }));
        };
        const isPage = (hit: Hit) => hit.event === undefined || wanted.events !== undefined;
        expect(report.pages).to.have.deep.members(countsBy((hit) => (isPage(hit) ? hit.path : undefined)));
        expect(report.entryPages).to.have.deep.members(countsBy(entryOf));
        expect(report.events).to.have.deep.members(countsBy(({ event }) => event));
        expect(report.browsers).to.have.deep.members(countsBy(({ browser }) => browser ?? '(unknown)'));
        expect(report.countries).to.have.deep.members(countsBy(({ country }) => country));
        const goal = within.filter(({ hit }) => hit.event === 'a').length;
        expect(report.goals).to.deep.equal([{ name: 'a', count: goal, rate: null }]);
        expect(report.unlisted).to.equal(0);
      }),
    );
  });

  it('counts hits in combinations that are too rare to be listed, and names what is not kept', () => {
    const counts = emptyDay();
    for (let n = 0; n < 50; n++) count(counts, [{ path: '/often', browser: 'Firefox' }], [], NOW);
    for (let n = 0; n < 1100; n++) count(counts, [{ path: `/${n}` }], [], NOW);
    const days = new Map([['2026-11-22', counts]]);
    const { pages, browsers, totals, unlisted, notKept, properties, trends } = reportOf(days, { pages: '/often' });
    expect(pages).to.deep.equal([{ name: '/often', count: 50 }]);
    expect(browsers).to.deep.equal([{ name: 'Firefox', count: 50 }]);
    expect(totals).to.deep.equal({ pageviews: 50, events: 0, uniques: null });
    expect(unlisted).to.be.within(101, 1100);
    expect([notKept, properties, trends]).to.deep.equal([NOT_KEPT, [], []]);
    // Those of the previous period are not of the period.
    expect(reportOf(new Map([['2026-11-19', counts]]), { pages: '/often' }).unlisted).to.equal(0);
  });

  it('lists as many items as are asked for', () => {
    const counts = emptyDay();
    for (let n = 0; n < 30; n++) count(counts, [{ path: `/${n}`, country: 'DE' }], [], NOW);
    expect(reportOf(new Map([['2026-11-22', counts]]), { countries: 'DE' }, 7).pages).to.have.lengthOf(7);
  });
});

describe('filters', () => {
  it('are an object of values by list', () => {
    expect(parseFilters('{"pages":"/a","countries":"DE"}')).to.deep.equal({ pages: '/a', countries: 'DE' });
    expect(parseFilters('{"campaigns":["news","mail",""]}')).to.deep.equal({ campaigns: '["news","mail",""]' });
  });

  it('are refused otherwise', () => {
    for (const text of [
      '',
      'pages',
      'null',
      '[]',
      '{}',
      '{"pages":1}',
      '{"paths":"/"}',
      '{"properties":"plan"}',
      '{"__proto__":"x"}',
      '{"campaigns":"news"}',
      '{"campaigns":["news"]}',
      '{"campaigns":["news","mail",1]}',
    ])
      expect(isRejection(parseFilters(text)), text).to.equal(true);
  });
});
