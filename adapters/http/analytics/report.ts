/** The route of reports. */
import type { Reports } from '../../../application/analytics/report.js';
import { isRejection } from '../../../domain/shared/index.js';
import { type Admit, type Route, route } from '../server/route.js';
import { type Admin, SECURITY } from './admission.js';
import { reportAnswer } from './report-schema.js';

export interface ReportRouteDeps {
  readonly reports: Reports;
  readonly admit: Admit<Admin>;
}

const day = { type: 'string', description: 'A day in UTC, `2026-11-22`, included' } as const;

export const reportRoute = ({ reports, admit }: ReportRouteDeps): Route =>
  route({
    method: 'GET',
    path: '/api/report',
    tags: ['Reports'],
    summary: 'What a site saw in a period, beside the period before',
    description:
      'The last `days` days in UTC, today included, or those from `start` to `end`. Uniques of a period are the sum of ' +
      'those of its days. Pages are counted by their views, events by their names, everything else by both. A list of a ' +
      'day keeps its 1000 most frequent values (fewer where they are long: 98304 characters together), each with the hits ' +
      'counted since it entered the list; all other hits count as `(other)`, which is last in a list. A page view without ' +
      'a referrer counts as `(direct)`, as does one from the own domains; what a user agent does not tell as `(unknown)`.',
    security: SECURITY,
    query: {
      type: 'object',
      required: ['site'],
      properties: {
        site: { type: 'string', minLength: 1 },
        days: { type: 'integer', minimum: 1, default: 30, description: 'More than 730 counts as 730' },
        start: day,
        end: day,
      },
    },
    answers: {
      200: { description: 'The report', schema: reportAnswer },
      404: { description: 'There is no such site' },
    },
    admit,
    async handle({ query: { site, days, start, end }, ifPosition }) {
      const asked = start === undefined && end === undefined ? { days } : { start, end };
      const found = await reports(site, asked, ifPosition);
      return isRejection(found) ? found : { status: 200, ...found };
    },
  });
