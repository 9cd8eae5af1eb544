/** The route that lets go what need not be kept any more, before it goes by itself. */
import type { Cleanup } from '../../../application/analytics/expire-days.js';
import { isRejection, object } from '../../../domain/shared/index.js';
import { type Admit, type Route, route } from '../server/route.js';
import { type Admin, CROSS_ORIGIN_ANSWER, SECURITY } from './admission.js';

export interface CleanupRouteDeps {
  readonly cleanup: Cleanup;
  readonly admit: Admit<Admin>;
}

const answer = object({
  aggregateCutoffDate: { type: 'string', description: 'The first day that is kept' },
  aggregateRowsDeleted: { type: 'integer' },
  rawCutoffTimestamp: { type: 'string', format: 'date-time', description: 'Since when raw records are kept' },
  rawRowsDeleted: { type: 'integer' },
});

export const cleanupRoute = ({ cleanup, admit }: CleanupRouteDeps): Route =>
  route({
    method: 'POST',
    path: '/api/cleanup',
    tags: ['Reports'],
    summary: 'Delete what is older than `analytics.retentionDays`; this happens by itself, too',
    description:
      'What has gone stays gone, also after a rebuild, and when the retention is made longer. Raw records, which are ' +
      'kept where `analytics.storeRaw` says so, go after `analytics.rawRetentionHours`.',
    security: SECURITY,
    // Nothing is asked for; what is sent must be JSON all the same.
    body: { type: 'object', properties: {} },
    answers: { 200: { description: 'What was deleted', schema: answer }, 403: CROSS_ORIGIN_ANSWER },
    admit,
    async handle({ context }, { actor }) {
      const done = await cleanup(context(actor, actor));
      if (isRejection(done)) return done;
      const body = {
        aggregateCutoffDate: done.before,
        aggregateRowsDeleted: done.rows,
        rawCutoffTimestamp: new Date(done.raw.before).toISOString(),
        rawRowsDeleted: done.raw.rows,
      };
      return { status: 200, body, position: done.position };
    },
  });
