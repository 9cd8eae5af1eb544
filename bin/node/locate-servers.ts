/** Finds the servers a command works with: those configured, those already running here, or engines of its own. */
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  DirectoryInUse,
  type Engines,
  findRuntime,
  isLocked,
  lockDirectory,
  privateDirectory,
  type Runtime,
  readRuntime,
  startEngines,
  writePrivately,
} from '@annals/engines';
import type { Logger } from '../../application/ports/index.js';
import type { AnnalsValues } from '../settings.js';

export interface Servers {
  /** Both may hold credentials: not for a log, nor for a command line. */
  readonly eventStoreUrl: string;
  readonly mongoUrl: string;
  /** For people: what kind of servers these are. */
  readonly kind: 'given' | 'embedded' | 'embedded, of another process';
  /** How many damaged events the event store has left out, where this process runs it. */
  damaged?(): number;
  /** What each engine takes of memory, in bytes, by its name, where this process runs them. */
  memory?(): ReadonlyMap<string, number>;
  /**
   * Where another process runs them: resolves, with why, when they never come back. Engines of another start have
   * taken their place, whose secret nobody knows who has not looked for it; or they have gone, and for `goneMs` nobody
   * has begun to start others.
   */
  lost?(goneMs?: number): Promise<'replaced' | 'gone'>;
  /** Stops the engines, if they are this process's own. */
  stop(): Promise<void>;
}

/** How long engines that another process is starting are waited for, ms: they may have much to take up. */
const STARTING_MS = 30_000;
const LOOK_AGAIN_MS = 50;
/** How soon it is seen that another process has started its engines anew, or has ended. */
const LOST_EVERY_MS = 1000;
/** How long whoever watches the other process has for starting it again. */
const GONE_MS = 10_000;

export interface FindOptions {
  /** For a command, which is done at some time; who serves relies on no engines that go with one, and waits for its end. */
  readonly passing?: boolean;
  readonly startingMs?: number;
}

/**
 * Starts engines only where no addresses are given and none run on the data directory. Rejects with `DirectoryInUse`
 * where another process holds it for `startingMs` without engines to be found.
 */
export async function findServers(
  values: Pick<AnnalsValues, 'eventStore.url' | 'mongo.url' | 'dataDir'>,
  logger: Logger,
  { passing = false, startingMs = STARTING_MS }: FindOptions = {},
): Promise<Servers> {
  const { 'eventStore.url': eventStoreUrl, 'mongo.url': mongoUrl } = values;
  if (eventStoreUrl && mongoUrl) return { eventStoreUrl, mongoUrl, kind: 'given', stop: async () => {} };
  const dataDir = resolve(values.dataDir);
  let until = performance.now() + startingMs;
  let told = '';
  const tell = (message: string) => {
    if (message !== told) logger.info({ dataDir }, message);
    told = message;
  };
  for (; ; await delay(LOOK_AGAIN_MS)) {
    const running = findRuntime(dataDir);
    if (running?.passing && !passing) {
      tell(`a command works on ${dataDir}, process ${running.pid}: this goes on once that is done`);
      until = performance.now() + startingMs;
      continue;
    }
    if (running)
      return {
        ...running,
        kind: 'embedded, of another process',
        lost: (goneMs) => lostIn(dataDir, running, goneMs),
        stop: async () => {},
      };
    try {
      const engines: Engines = await startEngines({ dataDir, passing, logger });
      return { ...engines, kind: 'embedded' };
    } catch (error) {
      // They are being started, or stopped: soon they can be found, or the directory is free.
      if (!(error instanceof DirectoryInUse) || performance.now() > until) throw error;
      tell(`${error.message}, whose engines are waited for`);
    }
  }
}

async function lostIn(dataDir: string, { pid, startedAt }: Runtime, goneMs = GONE_MS) {
  for (let goneSince: number | undefined; ; ) {
    await delay(LOST_EVERY_MS, undefined, { ref: false });
    const now = readRuntime(dataDir);
    if (now && (now.pid !== pid || now.startedAt !== startedAt)) return 'replaced';
    goneSince = now && isAlive(pid) ? undefined : (goneSince ?? performance.now());
    // The lock is looked at last, for whoever starts some wants it: who has it may take long to have them ready.
    const isGone = goneSince !== undefined && performance.now() - goneSince >= goneMs;
    if (isGone && isFree(dataDir)) return 'gone';
  }
}

/** Where it can't be told now, it is looked at again. */
function isFree(dataDir: string): boolean {
  try {
    return !isLocked(dataDir);
  } catch {
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // One of another user lives as well.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

const [NODE, NAME] = ['node', 'name'];
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/**
 * The name of this process in leases. The first process on a data directory keeps its name over restarts, so that
 * it takes up its leases at once; any further one gets a name of its own.
 */
export function nodeName(dataDir: string): string {
  const directory = join(resolve(dataDir), NODE);
  try {
    lockDirectory(directory);
  } catch (error) {
    if (error instanceof DirectoryInUse) return randomUUID();
    throw error;
  }
  const file = join(directory, NAME);
  const kept = existsSync(file) && readFileSync(file, 'utf8').trim();
  // What a failing disk left of one names nobody.
  if (kept && UUID.test(kept)) return kept;
  const name = randomUUID();
  writePrivately(file, `${name}\n`);
  return name;
}

/** Gives a copy of a data directory the name that is kept in this one, if there is any. */
export function takeName(dataDir: string, copy: string): void {
  const file = join(dataDir, NODE, NAME);
  if (!existsSync(file)) return;
  privateDirectory(join(copy, NODE));
  writePrivately(join(copy, NODE, NAME), readFileSync(file, 'utf8'));
}
