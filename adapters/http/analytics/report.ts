/** Route of reports. */
import type { Reports } from '../../../application/analytics/report.js';
import { isRejection } from '../../../domain/shared/index.js';
import { type Admit, type Route, route } from '../server/route.js';
import { type Admin, SECURITY } from './admission.js';
import { reportAnswer } from './report-schema.js';

export interface ReportRouteDeps {
  readonly reports: Reports;
  readonly admit: Admit<Admin>;
}

const day = { type: 'string', description: 'UTC day such as `2026-11-22`, inclusive' } as const;

export const reportRoute = ({ reports, admit }: ReportRouteDeps): Route =>
  route({
    method: 'GET',
    path: '/api/report',
    tags: ['Reports'],
    summary: 'Report of a site for a period, compared with the previous one',
    description:
      'The last `days` UTC days including today, or `start` to `end`. Uniques of a period are the sum of its days. Pages ' +
      'count page views, events count by name, other lists count both. The list of a day keeps its 1000 most frequent ' +
      'values (fewer if they exceed 98304 characters together), each with the hits counted since it entered the list; all ' +
      'other hits count as `(other)`, the last item. Page views without a referrer, or from the own domains, count as ' +
      '`(direct)`; unrecognized user agents as `(unknown)`.',
    security: SECURITY,
    query: {
      type: 'object',
      required: ['site'],
      properties: {
        site: { type: 'string', minLength: 1 },
        days: { type: 'integer', minimum: 1, default: 30, description: 'Values above 730 are treated as 730' },
        start: day,
        end: day,
      },
    },
    answers: {
      200: { description: 'The report', schema: reportAnswer },
      404: { description: 'Site not found' },
    },
    admit,
    async handle({ query: { site, days, start, end }, ifPosition }) {
      const period = start === undefined && end === undefined ? { days } : { start, end };
      const found = await reports(site, period, ifPosition);
      return isRejection(found) ? found : { status: 200, ...found };
    },
  });
