/** The routes of the rebuild. */
import { type Reindex, RUNNING } from '../../../application/logs/admin/reindex.js';
import { isRejection } from '../../../domain/shared/index.js';
import { problem } from '../server/problem.js';
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

  const known = async () => (await reindex.progress()) ?? { state: 'none' };

  const start = route({
    ...common,
    method: 'POST',
    summary: 'Rebuild the search index from the logs',
    description:
      'Built beside the served index, which answers until the end; then switched. Answers when it is done, or ' +
      'with `async=true` at once; `GET /api/reindex` tells the progress. One at a time: 409 with the progress.',
    // Nothing is asked for; what is sent must be JSON all the same.
    body: { type: 'object', properties: {} },
    query: { type: 'object', properties: { async: { type: 'boolean', default: false } } },
    answers: {
      200: { description: 'Done', schema: reindexReport },
      202: { description: 'Begun', schema: { type: 'object', properties: { id: { type: 'string' } } } },
      409: { description: 'One is running, here or in another process', schema: reindexRefused },
    },
    async handle({ query, logger, context }, { actor }) {
      const started = await reindex.start(context(actor, actor));
      if (isRejection(started)) {
        return started === RUNNING
          ? problem(409, 'A reindex is running', { extra: { progress: await known() } })
          : started;
      }
      if (query.async) {
        started.done.catch((err) => logger.error({ err }, 'reindex failed'));
        return { status: 202, body: { id: started.id }, position: started.position };
      }
      const lasting = async () => {
        const done = await started.done;
        return isRejection(done) ? done : { status: 200, body: done.report, position: done.position };
      };
      return { lasting };
    },
  });

  const progress = route({
    ...common,
    method: 'GET',
    summary: 'Progress of the running rebuild, wherever it runs, or of the last one',
    answers: { 200: { description: 'How far it is', schema: reindexProgress } },
    handle: async () => ({ status: 200, body: await known() }),
  });

  return [start, progress];
}
