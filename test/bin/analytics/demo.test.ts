/** Demonstration data is plausible (weekdays, growth, campaigns) and reproducible by seed. */
import { expect } from 'chai';
import { hitsOfDay } from '../../../bin/commands/analytics/demo.js';
import { DEMO_SITES, type DemoSite } from '../../../bin/commands/analytics/demo-sites.js';

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2026, 10, 22, 12);
const [shop, , docs] = DEMO_SITES as readonly [DemoSite, DemoSite, DemoSite];

const day = (site: DemoSite, start: number, seed = 'annals') =>
  hitsOfDay({ site, instance: { siteId: site.id, instance: 'one' }, start, now: NOW, seed, scale: 1 });
const count = (site: DemoSite, from: number, step: number, days = 8) =>
  Array.from({ length: days }, (_, n) => day(site, from + n * step * DAY_MS).length).reduce((a, b) => a + b);

describe('a day of demonstration data', () => {
  it('is equal for equal seeds and differs for others', () => {
    const start = Date.UTC(2026, 8, 1);
    expect(day(shop, start)).to.deep.equal(day(shop, start));
    expect(day(shop, start, 'other')).not.to.deep.equal(day(shop, start));
  });

  it('is ordered, within the day, and never in the future', () => {
    const today = Date.UTC(2026, 10, 22);
    const hits = day(shop, today);
    expect(hits.length).to.be.above(50);
    for (const [index, { at }] of hits.entries()) {
      expect(at).to.be.within(hits[index - 1]?.at ?? today, NOW - 1);
    }
  });

  it("differs between weekdays and weekends as the sites' topics suggest", () => {
    const [sunday, tuesday] = [Date.UTC(2026, 8, 6), Date.UTC(2026, 8, 8)];
    expect(count(docs, tuesday, 7)).to.be.above(1.5 * count(docs, sunday, 7));
    expect(count(shop, sunday, 7)).to.be.above(1.2 * count(shop, tuesday, 7));
  });

  it('shows growth and campaigns', () => {
    const [now, before] = [Date.UTC(2026, 9, 1), Date.UTC(2025, 11, 1)];
    expect(count(docs, now, 1, 14)).to.be.above(1.4 * count(docs, before, 1, 14));
    const of = (start: number) => day(shop, start).filter(({ hit }) => hit.campaign?.campaign === 'spring-sowing');
    expect(of(Date.UTC(2026, 2, 5))).not.to.deep.equal([]);
    expect(of(Date.UTC(2026, 5, 5))).to.deep.equal([]);
  });

  it('contains returning visitors with the same device', () => {
    const agents = new Map<string, Set<string>>();
    for (let n = 0; n < 10; n++)
      for (const { hit, visitor } of day(shop, Date.UTC(2026, 8, 1 + n))) {
        const known = agents.get(visitor!.address) ?? new Set();
        agents.set(visitor!.address, known.add(`${hit.browser} ${hit.os} ${hit.device} ${hit.country}`));
      }
    expect(Math.max(...Array.from(agents.values(), ({ size }) => size))).to.equal(1);
  });
});
