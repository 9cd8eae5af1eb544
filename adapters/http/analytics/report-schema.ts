/** JSON Schema of a report, for the OpenAPI document. */
import { object, type Schema } from '../../../domain/shared/index.js';

const text = { type: 'string' } as const;
const count = { type: 'integer' } as const;
const day = { type: 'string', format: 'date' } as const;
const list = <const Item extends Schema>(items: Item) => ({ type: 'array', items }) as const;

const metrics = { pageviews: count, events: count, uniques: count } as const;
const change = { type: ['integer', 'null'] } as const;
const namedCounts = list(object({ name: text, count }));

export const reportAnswer = object({
  site: text,
  generatedAt: { type: 'string', format: 'date-time' },
  range: object({ days: count, start: day, end: day }),
  totals: object(metrics),
  comparison: object({
    previous: object({
      ...metrics,
      complete: {
        type: 'boolean',
        description:
          'False if some days have no data: before the site was created, or expired. Each `delta` is null then',
      },
    }),
    delta: object({ pageviews: change, events: change, uniques: change }),
  }),
  series: list(object({ date: day, ...metrics })),
  pages: namedCounts,
  events: namedCounts,
  referrers: namedCounts,
  campaigns: list(object({ source: text, medium: text, campaign: text, count })),
  browsers: namedCounts,
  os: namedCounts,
  devices: namedCounts,
  countries: namedCounts,
  properties: list(object({ event: text, property: text, value: { type: ['string', 'number', 'boolean'] }, count })),
  trends: list(
    object({
      category: { enum: ['pages', 'events', 'browsers', 'devices', 'campaigns'] },
      id: text,
      label: text,
      total: count,
      values: list(object({ date: day, count })),
    }),
  ),
});
