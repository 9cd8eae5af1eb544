/** Generates the hits of a demo site for a day; deterministic by seed, site and day. */
import type { HistoricalHit } from '../../../application/analytics/store-imported-hits.js';
import type { Hit } from '../../../domain/analytics/catalog.js';
import { dayOf, type SiteInstance } from '../../../domain/analytics/hit.js';
import { DAY_MS } from '../../../domain/analytics/report.js';
import { DEMO_AGENTS, DEMO_COUNTRIES, DEMO_HOURS, type DemoSite, type Weighted } from './demo-sites.js';

const MINUTE_MS = 60_000;
const YEAR_DAYS = 365;
/** Size of the visitor pool, in days of visits; some visitors return. */
const VISITOR_POOL_DAYS = 25;
const CAMPAIGN_SHARE = 0.25;
const REFERRER_SHARE = 0.55;
/** Additional visits on the first day of a campaign, as a share. */
const CAMPAIGN_LIFT = 0.6;

export interface DemoDay {
  readonly site: DemoSite;
  readonly instance: SiteInstance;
  /** Midnight, Unix ms. */
  readonly start: number;
  /** Hits after this time are omitted. */
  readonly now: number;
  readonly seed: string;
  /** Factor on the number of visits. */
  readonly scale: number;
}

/** Ordered by time. */
export function hitsOfDay({ site, instance, start, now, seed, scale }: DemoDay): readonly HistoricalHit[] {
  const random = randomOf(`${seed} ${site.id} ${dayOf(start)}`);
  const hits: HistoricalHit[] = [];
  const campaign = campaignOn(site, start);
  const lift = campaign ? 1 + CAMPAIGN_LIFT * (1 - campaign.age / campaign.days) : 1;
  const age = (now - start) / DAY_MS / YEAR_DAYS;
  const growth = site.yearAgo ** age;
  const week = site.week[new Date(start).getUTCDay()] ?? 1;
  const visits = Math.round(site.visits * scale * growth * week * lift * (0.88 + 0.24 * random()));
  const visitorCount = Math.ceil(site.visits * scale * VISITOR_POOL_DAYS);

  for (let visit = 0; visit < visits; visit++) {
    // Skewed, so that some visitors come much more often than others.
    const visitorNumber = Math.floor(visitorCount * random() ** 1.6);
    const person = randomOf(`${seed} ${site.id} visitor ${visitorNumber}`);
    const attributes = { ...pick(DEMO_AGENTS, person()), country: pickText(DEMO_COUNTRIES, person()) };
    const isFromCampaign = campaign !== undefined && random() < CAMPAIGN_SHARE;
    const source: Partial<Hit> = isFromCampaign
      ? { campaign: campaign.utm }
      : random() < REFERRER_SHARE
        ? { referrer: pickText(site.referrers, random()) }
        : {};
    const visitor = { address: `${site.id} ${visitorNumber}`, userAgent: '' };
    let at = start + hourOf(random()) * 60 * MINUTE_MS + Math.floor(random() * 60 * MINUTE_MS);
    const add = (hit: Hit) => hits.push({ site: instance, at, hit: { ...hit, ...attributes }, visitor });
    for (let view = 0; view === 0 || random() < 1 - 1 / site.views; view++) {
      const path = pickText(site.pages, random());
      add({ path, ...(view === 0 ? source : { isInternal: true }) });
      for (const { name, percent, property, values } of site.events)
        if (random() * 100 < percent)
          add({ path, event: name, properties: [{ name: property, value: pickText(values, random()) }] });
      at += Math.floor(random() * 3 * MINUTE_MS);
    }
  }
  const end = Math.min(start + DAY_MS, now);
  return hits.filter(({ at }) => at < end).sort((a, b) => a.at - b.at);
}

/** The running campaign of a day, with its age in days. */
function campaignOn({ campaigns }: DemoSite, start: number) {
  const dayOfYear = Math.floor((start - Date.UTC(new Date(start).getUTCFullYear(), 0, 1)) / DAY_MS);
  for (const { from, days, ...utm } of campaigns) {
    const age = (dayOfYear - from + YEAR_DAYS) % YEAR_DAYS;
    if (age < days) return { utm, age, days };
  }
  return undefined;
}

const HOURS = DEMO_HOURS.map((weight, hour) => [hour, weight] as const);
const hourOf = (share: number) => pick(HOURS, share);

/** @param share From 0 to 1, usually random. */
function pick<Value>(values: readonly (readonly [value: Value, weight: number])[], share: number): Value {
  let remaining = share * values.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [value, weight] of values) {
    remaining -= weight;
    if (remaining < 0) return value;
  }
  return values.at(-1)![0];
}

const pickText = (values: Weighted, share: number) => pick(Object.entries(values), share);

/** Creates a pseudorandom generator from a text (mulberry32, seeded by FNV-1a). Not for secrets. */
function randomOf(text: string): () => number {
  let state = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) state = Math.imul(state ^ text.charCodeAt(index), 0x01000193);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
