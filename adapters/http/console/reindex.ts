/** Routes that rebuild read models, or compare them with a rebuild, and tell how far that is. */
import type { Logger } from '../../../application/ports/index.js';
import { BuildInProgress, type Progress, type ReadModel, type Rebuilder } from '../../../projections/kernel/index.js';
import { type Problem, problem } from '../server/policy.js';
import { type Route, route } from '../server/route.js';
import { reindexRun, reindexRuns } from './schemas.js';

export interface ReindexDeps {
  readonly models: readonly ReadModel[];
  readonly lifecycle: Pick<Rebuilder, 'rebuild' | 'check'>;
  readonly logger: Logger;
  /** Stops a run; a rebuild continues when it is started again. */
  readonly signal: AbortSignal;
}

type Kind = 'rebuild' | 'check';

interface Run {
  readonly projection: string;
  readonly kind: Kind;
  readonly startedAt: string;
  state: 'running' | 'done' | 'failed';
  events: number;
  position?: string;
  until?: string;
  endedAt?: string;
  differences?: number;
  error?: string;
}

const BUSY = problem(409, 'Another read model is being rebuilt or checked; one at a time');
const ELSEWHERE = problem(409, 'This read model is being rebuilt or checked by another process');
const FAILED = 'It failed; the log says why. Start it again to continue.';

export function reindexRoutes({ models, lifecycle, logger, signal }: ReindexDeps): readonly Route[] {
  /** The last run of each read model, by its name. */
  const runs = new Map<string, Run>();
  const isRunning = () => [...runs.values()].some(({ state }) => state === 'running');

  /** Resolves once the run has begun, or cannot begin. */
  async function start(model: ReadModel, kind: Kind): Promise<Run | Problem> {
    if (isRunning()) return BUSY;
    const previous = runs.get(model.name);
    const startedAt = new Date().toISOString();
    const run: Run = { projection: model.name, kind, startedAt, state: 'running', events: 0 };
    runs.set(model.name, run);
    const end = (state: Run['state']) => Object.assign(run, { state, endedAt: new Date().toISOString() });
    const onProgress = ({ events, position }: Progress, until: bigint) =>
      void Object.assign(run, { events, position: String(position), until: String(until) });
    logger.info({ projection: model.name, kind }, 'a rebuild or check was asked for on the operations port');
    return new Promise((resolve, reject) => {
      const onBegun = () => resolve(run);
      execute(run, model, { signal, onProgress, onBegun }).then(
        () => end('done'),
        (error: unknown) => {
          if (error instanceof BuildInProgress) {
            if (previous) runs.set(model.name, previous);
            else runs.delete(model.name);
            return resolve(ELSEWHERE);
          }
          end('failed').error = FAILED;
          if (!signal.aborted)
            logger.error({ err: error, projection: model.name, kind }, 'the rebuild or check failed');
          // Without effect once the run has begun.
          reject(error);
        },
      );
    });
  }

  async function execute(run: Run, model: ReadModel, options: Parameters<Rebuilder['check']>[1]): Promise<void> {
    if (run.kind === 'rebuild') await lifecycle.rebuild(model, options);
    else run.differences = (await lifecycle.check(model, options)).length;
  }

  const command = (kind: Kind, summary: string, description: string) =>
    route({
      method: 'POST',
      path: `/projections/:name/${kind}`,
      summary,
      description: `${description} \`GET /reindex\` tells how far it is. One runs at a time.`,
      answers: {
        202: { description: 'Started', schema: reindexRun },
        404: { description: 'There is no such read model' },
        409: { description: 'One is running, possibly in another process' },
      },
      async handle({ params }) {
        const model = models.find(({ name }) => name === params.name);
        if (!model) return problem(404, 'There is no read model of this name');
        const started = await start(model, kind);
        return 'problem' in started ? started : { status: 202, body: started };
      },
    });

  return [
    command(
      'rebuild',
      'Rebuild a read model',
      'It is built from the log beside the served one, which answers queries until the switch.',
    ),
    command('check', 'Compare a read model with a rebuild', 'Counts the rows that differ, and changes nothing.'),
    route({
      method: 'GET',
      path: '/reindex',
      summary: 'The last rebuild or check of each read model on this node, since its start',
      answers: { 200: { description: 'Rebuilds and checks', schema: reindexRuns } },
      handle: () => ({ status: 200, body: { runs: [...runs.values()] } }),
    }),
  ];
}
