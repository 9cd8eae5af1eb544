/** Definitions of the three demo sites: pages, events, referrers, campaigns and visitors. */
import type { Hit } from '../../../domain/analytics/catalog.js';

/** Relative frequency by value. */
export type Weighted = { readonly [value: string]: number };

interface DemoEvent {
  readonly name: string;
  /** Events per hundred views. */
  readonly percent: number;
  readonly property: string;
  readonly values: Weighted;
}

export interface DemoSite {
  readonly id: string;
  readonly name: string;
  readonly domain: string;
  /** Visits of an average day now. */
  readonly visits: number;
  /** Visits a year ago, as a share of those now. */
  readonly yearAgo: number;
  /** Factor of each day of the week, Sunday first. */
  readonly week: readonly number[];
  readonly pages: Weighted;
  /** Average views per visit. */
  readonly views: number;
  readonly events: readonly DemoEvent[];
  readonly referrers: Weighted;
  /** `from`: day of the year on which it starts. */
  readonly campaigns: readonly (NonNullable<Hit['campaign']> & { readonly from: number; readonly days: number })[];
}

const OFFICE = [0.55, 1.15, 1.2, 1.2, 1.15, 1, 0.6];
const LEISURE = [1.35, 0.85, 0.85, 0.9, 0.95, 1.05, 1.4];

const SEARCH = { 'https://google.com': 46, 'https://duckduckgo.com': 8, 'https://bing.com': 6 };

export const DEMO_SITES: readonly DemoSite[] = [
  {
    id: 'demo-shop',
    name: 'Wildflower Seeds (demo)',
    domain: 'wildflower-seeds.example',
    visits: 190,
    yearAgo: 0.55,
    week: LEISURE,
    views: 3.4,
    pages: {
      '/': 30,
      '/seeds': 16,
      '/seeds/cornflower': 9,
      '/seeds/poppy': 8,
      '/seeds/oxeye-daisy': 6,
      '/seeds/meadow-mix': 11,
      '/guides/when-to-sow': 7,
      '/guides/meadow-in-a-pot': 4,
      '/basket': 5,
      '/checkout': 3,
      '/about': 2,
    },
    events: [
      { name: 'Add to basket', percent: 7, property: 'size', values: { '10 g': 6, '50 g': 3, '250 g': 1 } },
      { name: 'Purchase', percent: 1.8, property: 'payment', values: { card: 7, invoice: 2, voucher: 1 } },
    ],
    referrers: {
      ...SEARCH,
      'https://pinterest.com': 12,
      'https://instagram.com': 9,
      'https://gardens-weekly.example': 5,
    },
    campaigns: [
      { source: 'newsletter', medium: 'email', campaign: 'spring-sowing', from: 62, days: 21 },
      { source: 'instagram', medium: 'paid', campaign: 'balcony-meadow', from: 120, days: 28 },
      { source: 'newsletter', medium: 'email', campaign: 'autumn-sowing', from: 246, days: 18 },
      { source: 'google', medium: 'cpc', campaign: 'winter-gifts', from: 325, days: 30 },
    ],
  },
  {
    id: 'demo-blog',
    name: 'Slow Trains (demo)',
    domain: 'slow-trains.example',
    visits: 130,
    yearAgo: 0.8,
    week: LEISURE,
    views: 1.7,
    pages: {
      '/': 22,
      '/posts/night-train-to-trieste': 18,
      '/posts/a-timetable-worth-reading': 11,
      '/posts/bicycles-on-board': 9,
      '/posts/the-longest-platform': 7,
      '/posts/packing-light': 12,
      '/posts/border-stations': 6,
      '/tags/night-trains': 5,
      '/about': 3,
    },
    events: [{ name: 'Subscribe', percent: 1.4, property: 'form', values: { footer: 5, 'end of post': 4, banner: 1 } }],
    referrers: {
      ...SEARCH,
      'https://news.ycombinator.com': 14,
      'https://reddit.com': 11,
      'https://mastodon.social': 9,
    },
    campaigns: [{ source: 'mastodon', medium: 'social', campaign: 'summer-series', from: 172, days: 40 }],
  },
  {
    id: 'demo-docs',
    name: 'Ledgerline Docs (demo)',
    domain: 'docs.ledgerline.example',
    visits: 110,
    yearAgo: 0.4,
    week: OFFICE,
    views: 4.6,
    pages: {
      '/': 18,
      '/guide/install': 16,
      '/guide/first-entry': 12,
      '/guide/reconcile': 8,
      '/reference/api': 15,
      '/reference/cli': 11,
      '/reference/errors': 7,
      '/recipes/import-csv': 6,
      '/changelog': 4,
    },
    events: [
      { name: 'Copy code', percent: 9, property: 'language', values: { shell: 6, typescript: 4, python: 3 } },
      { name: 'Search', percent: 6, property: 'found', values: { yes: 8, no: 2 } },
    ],
    referrers: {
      ...SEARCH,
      'https://github.com': 18,
      'https://stackoverflow.com': 10,
      'https://ledgerline.example': 22,
    },
    campaigns: [{ source: 'partner', medium: 'referral', campaign: 'launch-2', from: 271, days: 14 }],
  },
];

/** Browsers with their relative frequency. */
export const DEMO_AGENTS: readonly (readonly [Pick<Hit, 'browser' | 'os' | 'device'>, number])[] = [
  [{ browser: 'Chrome', os: 'Windows', device: 'desktop' }, 26],
  [{ browser: 'Chrome', os: 'Android', device: 'mobile' }, 22],
  [{ browser: 'Safari', os: 'iOS', device: 'mobile' }, 19],
  [{ browser: 'Safari', os: 'macOS', device: 'desktop' }, 9],
  [{ browser: 'Firefox', os: 'Windows', device: 'desktop' }, 6],
  [{ browser: 'Firefox', os: 'Linux', device: 'desktop' }, 5],
  [{ browser: 'Microsoft Edge', os: 'Windows', device: 'desktop' }, 7],
  [{ browser: 'Safari', os: 'iOS', device: 'tablet' }, 4],
  [{ browser: 'Chrome', os: 'macOS', device: 'desktop' }, 2],
];

export const DEMO_COUNTRIES: Weighted = {
  DE: 24,
  US: 21,
  GB: 12,
  FR: 9,
  NL: 7,
  AT: 6,
  CH: 5,
  CA: 5,
  SE: 3,
  IT: 3,
  JP: 2,
  BR: 2,
  NZ: 1,
};

/** Relative frequency of each hour of the day in UTC, from midnight. */
export const DEMO_HOURS = [2, 1, 1, 1, 1, 2, 3, 5, 8, 10, 11, 10, 9, 10, 11, 11, 10, 9, 9, 10, 10, 8, 6, 4];
