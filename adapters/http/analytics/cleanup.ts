/** Route that runs the retention cleanup immediately. */
import type { Cleanup } from '../../../application/analytics/expire-days.js';
import { isRejection, object } from '../../../domain/shared/index.js';
import { type Admit, type Route, route } from '../server/route.js';
import { type Admin, CROSS_ORIGIN_ANSWER, SECURITY } from './admission.js';

export interface CleanupRouteDeps {
  readonly cleanup: Cleanup;
  readonly admit: Admit<Admin>;
}

const answer = object({
  aggregateCutoffDate: { type: 'string', description: 'First retained day' },
  aggregateRowsDeleted: { type: 'integer' },
  rawCutoffTimestamp: { type: 'string', format: 'date-time', description: 'Start of the retained raw records' },
  rawRowsDeleted: { type: 'integer' },
});

export const cleanupRoute = ({ cleanup, admit }: CleanupRouteDeps): Route =>
  route({
    method: 'POST',
    path: '/api/cleanup',
    tags: ['Reports'],
    summary: 'Delete data older than `analytics.retentionDays`; also runs automatically',
    description:
      'Deleted data does not come back by a rebuild or a longer retention. Raw records, which exist only with ' +
      '`analytics.storeRaw`, are deleted after `analytics.rawRetentionHours`.',
    security: SECURITY,
    // No members are required, but a body must be JSON.
    body: { type: 'object', properties: {} },
    answers: { 200: { description: 'What was deleted', schema: answer }, 403: CROSS_ORIGIN_ANSWER },
    admit,
    async handle({ context }, { actor }) {
      const result = await cleanup(context(actor, actor));
      if (isRejection(result)) return result;
      const body = {
        aggregateCutoffDate: result.before,
        aggregateRowsDeleted: result.rows,
        rawCutoffTimestamp: new Date(result.raw.before).toISOString(),
        rawRowsDeleted: result.raw.rows,
      };
      return { status: 200, body, position: result.position };
    },
  });
