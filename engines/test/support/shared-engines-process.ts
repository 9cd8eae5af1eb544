/** Runs any number of embedded engines of one kind for tests: `fork(this, [kind])`. */
import { tuneNextTick } from '../../supervisor/next-tick-tuning.js';

/** Options of one engine. */
export interface StartOptions {
  readonly directory: string;
  readonly secret: string;
  /** For MongoDB: milliseconds between removals of expired documents. */
  readonly housekeepingMs?: number;
}

export interface StartedEngine {
  readonly url: string;
  readonly port: number;
}

export type EngineRequest = { readonly begin: StartOptions } | { readonly end: number };

/** The answer to the request with this id. */
export interface EngineResponse {
  readonly id: number;
  readonly started?: StartedEngine;
  readonly failed?: string;
}

tuneNextTick();
const [, , kind] = process.argv;
const start =
  kind === 'mongo'
    ? (await import('../../mongo/engine.js')).startMongoEngine
    : (await import('../../eventstore/engine.js')).startEventStoreEngine;
const engines = new Map<number, Awaited<ReturnType<typeof start>>>();

async function answer(request: EngineRequest): Promise<{ started?: StartedEngine }> {
  if ('end' in request) {
    await engines.get(request.end)?.stop();
    engines.delete(request.end);
    return {};
  }
  const engine = await start({
    ...request.begin,
    onFatal(error) {
      throw error;
    },
  });
  engines.set(engine.port, engine);
  return { started: { url: engine.url, port: engine.port } };
}

process.on('disconnect', () => process.exit(0));
process.on('message', ({ id, ...request }: { id: number } & EngineRequest) => {
  const respond = (response: Omit<EngineResponse, 'id'>) => process.send?.({ id, ...response });
  answer(request).then(respond, (error) => respond({ failed: String(error) }));
});
