/** Runs embedded engines of one kind for tests, as many as it is asked for: `fork(this, [kind])`. */
import { keepTicksQuick } from '../../supervisor/next-tick-tuning.js';

/** What an engine is begun with. */
export interface Begin {
  readonly directory: string;
  readonly secret: string;
  /** For MongoDB: how often it expires documents. */
  readonly housekeepingMs?: number;
}

export interface Begun {
  readonly url: string;
  readonly port: number;
}

export type Asked = { readonly begin: Begin } | { readonly end: number };

/** The answer to what was asked under this id. */
export interface Told {
  readonly id: number;
  readonly begun?: Begun;
  readonly failed?: string;
}

keepTicksQuick();
const [, , kind] = process.argv;
const start =
  kind === 'mongo'
    ? (await import('../../mongo/engine.js')).startMongoEngine
    : (await import('../../eventstore/engine.js')).startEventStoreEngine;
const engines = new Map<number, Awaited<ReturnType<typeof start>>>();

async function answer(asked: Asked): Promise<{ begun?: Begun }> {
  if ('end' in asked) {
    await engines.get(asked.end)?.stop();
    engines.delete(asked.end);
    return {};
  }
  const engine = await start({
    ...asked.begin,
    onFatal(error) {
      throw error;
    },
  });
  engines.set(engine.port, engine);
  return { begun: { url: engine.url, port: engine.port } };
}

process.on('disconnect', () => process.exit(0));
process.on('message', ({ id, ...asked }: { id: number } & Asked) => {
  const tell = (told: Omit<Told, 'id'>) => process.send?.({ id, ...told });
  answer(asked).then(tell, (error) => tell({ failed: String(error) }));
});
