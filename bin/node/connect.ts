/** Finds the servers a command works with: those configured, those already running here, or engines of its own. */
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DirectoryInUse, lockDirectory } from '../../adapters/engines/lock.js';
import { findRuntime, type Runtime, readRuntime } from '../../adapters/engines/runtime.js';
import { type Engines, startEngines } from '../../adapters/engines/start.js';
import { writePrivately } from '../../adapters/system/private-files.js';
import type { Logger } from '../../application/ports.js';
import type { AnnalsValues } from '../settings.js';

export interface Servers {
  /** Both may hold credentials: not for a log, nor for a command line. */
  readonly eventStoreUrl: string;
  readonly mongoUrl: string;
  /** For people: what kind of servers these are. */
  readonly kind: 'given' | 'embedded' | 'embedded, of another process';
  /** How many damaged events the event store has left out, where this process runs it. */
  damaged?(): number;
  /**
   * Where another process runs them: resolves when engines of another start have taken their place. These never come
   * back then, for nobody knows the new secret who has not looked for it.
   */
  replaced?(): Promise<void>;
  /** Stops the engines, if they are this process's own. */
  stop(): Promise<void>;
}

/** How long engines that another process is starting are waited for, ms: they may have much to take up. */
const STARTING_MS = 30_000;
const LOOK_AGAIN_MS = 50;
/** How soon it is seen that another process has started its engines anew. */
const REPLACED_EVERY_MS = 1000;

/**
 * Starts engines only where no addresses are given and none run on the data directory. Rejects with `DirectoryInUse`
 * where another process holds it for `startingMs` without engines to be found.
 */
export async function findServers(
  values: Pick<AnnalsValues, 'eventStore.url' | 'mongo.url' | 'dataDir'>,
  logger: Logger,
  startingMs = STARTING_MS,
): Promise<Servers> {
  const { 'eventStore.url': eventStoreUrl, 'mongo.url': mongoUrl } = values;
  if (eventStoreUrl && mongoUrl) return { eventStoreUrl, mongoUrl, kind: 'given', stop: async () => {} };
  const dataDir = resolve(values.dataDir);
  const until = performance.now() + startingMs;
  for (let told = false; ; told = true) {
    const running = findRuntime(dataDir);
    if (running)
      return {
        ...running,
        kind: 'embedded, of another process',
        replaced: () => replacedIn(dataDir, running),
        stop: async () => {},
      };
    try {
      const engines: Engines = await startEngines({ dataDir, logger });
      return { ...engines, kind: 'embedded' };
    } catch (error) {
      // They are being started, or stopped: soon they can be found, or the directory is free.
      if (!(error instanceof DirectoryInUse) || performance.now() > until) throw error;
      if (!told) logger.info({ dataDir }, `${error.message}, whose engines are waited for`);
      await delay(LOOK_AGAIN_MS);
    }
  }
}

async function replacedIn(dataDir: string, { pid, startedAt }: Runtime): Promise<void> {
  for (;;) {
    await delay(REPLACED_EVERY_MS, undefined, { ref: false });
    const now = readRuntime(dataDir);
    if (now && (now.pid !== pid || now.startedAt !== startedAt)) return;
  }
}

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/**
 * The name of this process in leases. The first process on a data directory keeps its name over restarts, so that
 * it takes up its leases at once; any further one gets a name of its own.
 */
export function nodeName(dataDir: string): string {
  const directory = join(resolve(dataDir), 'node');
  try {
    lockDirectory(directory);
  } catch (error) {
    if (error instanceof DirectoryInUse) return randomUUID();
    throw error;
  }
  const file = join(directory, 'name');
  const kept = existsSync(file) && readFileSync(file, 'utf8').trim();
  // What a failing disk left of one names nobody.
  if (kept && UUID.test(kept)) return kept;
  const name = randomUUID();
  writePrivately(file, `${name}\n`);
  return name;
}
