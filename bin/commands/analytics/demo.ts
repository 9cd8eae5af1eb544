/** A day of a demonstration: visits that might have been, the same ones for the same seed, site and day. */
import type { PastHit } from '../../../application/analytics/store-imported-hits.js';
import type { Hit } from '../../../domain/analytics/catalog.js';
import { dayOf, type SiteInstance } from '../../../domain/analytics/hit-batch.js';
import { DAY_MS } from '../../../domain/analytics/period.js';
import { DEMO_AGENTS, DEMO_COUNTRIES, DEMO_HOURS, type DemoSite, type Weighted } from './demo-sites.js';

const MINUTE_MS = 60_000;
const YEAR_DAYS = 365;
/** Who comes in a month; a part of them comes again. */
const VISITORS_OF_DAYS = 25;
const FROM_CAMPAIGN = 0.25;
const FROM_ELSEWHERE = 0.55;
/** What a campaign brings, on its first day. */
const CAMPAIGN_LIFT = 0.6;

export interface DemoDay {
  readonly site: DemoSite;
  readonly of: SiteInstance;
  /** Midnight, Unix ms. */
  readonly start: number;
  /** What is after it has not happened. */
  readonly now: number;
  readonly seed: string;
  /** So many times as much. */
  readonly scale: number;
}

/** In the order in which they came. */
export function hitsOfDay({ site, of, start, now, seed, scale }: DemoDay): readonly PastHit[] {
  const random = randomOf(`${seed} ${site.id} ${dayOf(start)}`);
  const hits: PastHit[] = [];
  const campaign = campaignOn(site, start);
  const lift = campaign ? 1 + CAMPAIGN_LIFT * (1 - campaign.age / campaign.days) : 1;
  const age = (now - start) / DAY_MS / YEAR_DAYS;
  const grown = site.yearAgo ** age;
  const week = site.week[new Date(start).getUTCDay()] ?? 1;
  const visits = Math.round(site.visits * scale * grown * week * lift * (0.88 + 0.24 * random()));
  const crowd = Math.ceil(site.visits * scale * VISITORS_OF_DAYS);

  for (let visit = 0; visit < visits; visit++) {
    // Some come much more often than others.
    const who = Math.floor(crowd * random() ** 1.6);
    const person = randomOf(`${seed} ${site.id} visitor ${who}`);
    const about = { ...pick(DEMO_AGENTS, person()), country: pick(DEMO_COUNTRIES, person()) };
    const isOfCampaign = campaign !== undefined && random() < FROM_CAMPAIGN;
    const whence: Partial<Hit> = isOfCampaign
      ? { campaign: campaign.utm }
      : random() < FROM_ELSEWHERE
        ? { referrer: pick(site.referrers, random()) }
        : {};
    const visitor = { address: `${site.id} ${who}`, userAgent: '' };
    let at = start + hourOf(random()) * 60 * MINUTE_MS + Math.floor(random() * 60 * MINUTE_MS);
    const add = (hit: Hit) => hits.push({ site: of, at, hit: { ...hit, ...about }, visitor });
    for (let view = 0; view === 0 || random() < 1 - 1 / site.views; view++) {
      const path = pick(site.pages, random());
      add({ path, ...(view === 0 && whence) });
      for (const { name, percent, property, values } of site.events)
        if (random() * 100 < percent)
          add({ path, event: name, properties: [{ name: property, value: pick(values, random()) }] });
      at += Math.floor(random() * 3 * MINUTE_MS);
    }
  }
  const end = Math.min(start + DAY_MS, now);
  return hits.filter(({ at }) => at < end).sort((a, b) => a.at - b.at);
}

/** The campaign of a day, and how old it is, in days. */
function campaignOn({ campaigns }: DemoSite, start: number) {
  const dayOfYear = Math.floor((start - Date.UTC(new Date(start).getUTCFullYear(), 0, 1)) / DAY_MS);
  for (const { from, days, ...utm } of campaigns) {
    const age = (dayOfYear - from + YEAR_DAYS) % YEAR_DAYS;
    if (age < days) return { utm, age, days };
  }
  return undefined;
}

const HOURS: Weighted<number> = DEMO_HOURS.map((weight, hour) => [hour, weight] as const);
const hourOf = (share: number) => pick(HOURS, share);

/** `share`: from 0 to 1. */
function pick<Value>(values: Weighted<Value>, share: number): Value {
  let left = share * values.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [value, weight] of values) {
    left -= weight;
    if (left < 0) return value;
  }
  return values.at(-1)![0];
}

/** Numbers from 0 to 1 that follow from a text (mulberry32, begun by FNV-1a): for show, not for secrets. */
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
