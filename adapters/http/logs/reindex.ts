/** Routes that rebuild the record index. */
import { type Reindex, RUNNING } from '../../../application/logs/admin/reindex.js';
import { isRejection } from '../../../domain/shared/index.js';
import { problem } from '../server/policy.js';
import { type Admit, type Route, route } from '../server/route.js';
import type { LogCaller } from './admission.js';
import { reindexProgress, reindexRefused, reindexReport } from './schemas.js';

export interface ReindexRouteDeps {
  readonly reindex: Reindex;
  readonly admit: Admit<LogCaller>;
  readonly security: readonly string[];
}

export function reindexRoutes({ reindex, admit, security }: ReindexRouteDeps): readonly Route[] {
  const common = { path: '/api/reindex', tags: ['Index'], admit, security } as const;

  const currentProgress = async () => (await reindex.progress()) ?? { state: 'none' };

  const start = route({
    ...common,
    method: 'POST',
    summary: 'Rebuild the search index from the logs',
    description:
      'The new index is built beside the served one, which answers queries until the switch. Responds when done, or ' +
      'immediately with `async=true`; `GET /api/reindex` returns the progress. Only one runs at a time: 409 otherwise.',
    // No parameters, but a body must be JSON.
    body: { type: 'object', properties: {} },
    query: { type: 'object', properties: { async: { type: 'boolean', default: false } } },
    answers: {
      200: { description: 'Done', schema: reindexReport },
      202: { description: 'Started', schema: { type: 'object', properties: { id: { type: 'string' } } } },
      409: { description: 'A rebuild is running, possibly in another process', schema: reindexRefused },
    },
    async handle({ query, logger, context }, { actor }) {
      const started = await reindex.start(context(actor, actor));
      if (isRejection(started)) {
        return started === RUNNING
          ? problem(409, 'A reindex is running', { extra: { progress: await currentProgress() } })
          : started;
      }
      if (query.async) {
        started.done.catch((err) => logger.error({ err }, 'reindex failed'));
        return { status: 202, body: { id: started.id }, position: started.position };
      }
      const waitUntilDone = async () => {
        const outcome = await started.done;
        return isRejection(outcome) ? outcome : { status: 200, body: outcome.report, position: outcome.position };
      };
      return { finish: waitUntilDone };
    },
  });

  const progress = route({
    ...common,
    method: 'GET',
    summary: 'Progress of the running rebuild, in any process, or of the last one',
    answers: { 200: { description: 'Progress', schema: reindexProgress } },
    handle: async () => ({ status: 200, body: await currentProgress() }),
  });

  return [start, progress];
}
