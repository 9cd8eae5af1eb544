/** Values of hits that are counted together, so that a report can be filtered by some of them. */
import { isRejection, type Rejection, rejection } from '../shared/index.js';

/** Lists whose values a report can be filtered by. */
export const FILTERS = [
  'pages',
  'events',
  'referrers',
  'campaigns',
  'browsers',
  'os',
  'devices',
  'countries',
  'entryPages',
] as const;
export type FilterName = (typeof FILTERS)[number];

/** Value of a hit in each list; null if it has none. `pages`: the path, of events too. */
export type HitValues = { readonly [name in FilterName]: string | null };

/** Wanted values. A campaign is the JSON of its parts. */
export type Filters = { readonly [name in FilterName]?: string };

/** An item of a day's list of combinations. Entry pages are pages: `1` saves the repeated path. */
export const combinationKey = (values: HitValues): string =>
  JSON.stringify(FILTERS.map((name) => (name === 'entryPages' && values.entryPages !== null ? 1 : values[name])));

/** Creates a function that returns the values of a combination if it passes all filters. */
export function combinationFilter(filters: Filters): (key: string) => HitValues | undefined {
  const wanted = Object.entries(filters) as [FilterName, string][];
  const parts = wanted.map(([, value]) => JSON.stringify(value));
  return (key) => {
    // Parsing costs much more than searching, and most combinations do not pass.
    if (!parts.every((part) => key.includes(part))) return undefined;
    const values: readonly (string | 1 | null)[] = JSON.parse(key);
    const hit = Object.fromEntries(
      FILTERS.map((name, index) => [name, values[index] === 1 ? values[0] : values[index]]),
    ) as HitValues;
    return wanted.every(([name, value]) => hit[name] === value) ? hit : undefined;
  };
}

const badFilters = rejection(
  'analytics/bad-filters',
  'invalid',
  `filters must be a JSON object of values by list, such as {"pages":"/pricing"}; lists are ${FILTERS.join(', ')}; ` +
    'a campaign is an array of source, medium and campaign',
);

/** Parses a JSON object of at least one filter. */
export function parseFilters(text: string): Filters | Rejection {
  const filters: { [name in FilterName]?: string } = {};
  let entries: [string, unknown][];
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return badFilters;
    entries = Object.entries(parsed);
  } catch {
    return badFilters;
  }
  for (const [name, value] of entries) {
    const wanted = FILTERS.some((each) => each === name) ? wantedValue(name as FilterName, value) : badFilters;
    if (isRejection(wanted)) return wanted;
    filters[name as FilterName] = wanted;
  }
  return entries.length > 0 ? filters : badFilters;
}

function wantedValue(name: FilterName, value: unknown): string | Rejection {
  if (name !== 'campaigns') return typeof value === 'string' ? value : badFilters;
  const isCampaign = Array.isArray(value) && value.length === 3 && value.every((part) => typeof part === 'string');
  return isCampaign ? JSON.stringify(value) : badFilters;
}
