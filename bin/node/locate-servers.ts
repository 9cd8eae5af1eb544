/** Finds the servers of a command: configured ones, engines already running here, or engines it starts itself. */
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  DirectoryInUse,
  type Engines,
  ensurePrivateDirectory,
  findRuntime,
  isLocked,
  lockDirectory,
  type Runtime,
  readRuntime,
  startEngines,
  writePrivateFile,
} from '@annals/engines';
import type { Logger } from '../../application/ports/index.js';
import type { AnnalsValues } from '../settings.js';

export interface Servers {
  /** Both may hold credentials: keep them out of logs and command lines. */
  readonly eventStoreUrl: string;
  readonly mongoUrl: string;
  readonly kind: 'given' | 'embedded' | 'embedded, of another process';
  /** How many damaged events the event store has skipped, where this process runs it. */
  damagedEvents?(): number;
  /** Memory of each engine in bytes, by its name, where this process runs them. */
  memory?(): ReadonlyMap<string, number>;
  /**
   * Where another process runs the engines: resolves when they are lost for good. They were `replaced` by engines of
   * another start with an unknown secret, or are `gone` and nothing has restarted them for `restartMs`.
   */
  awaitLoss?(restartMs?: number): Promise<'replaced' | 'gone'>;
  stop(): Promise<void>;
}

/** How long to wait for engines that another process is starting, in ms. They may have much to recover. */
const STARTING_MS = 30_000;
const RETRY_MS = 50;
/** Interval of the check whether the other process has restarted its engines or has ended. */
const CHECK_MS = 1000;
/** How long a supervisor has to restart the other process. */
const RESTART_MS = 10_000;

export interface FindOptions {
  /** For commands, which end by themselves. A server never uses the engines of a command: it waits for its end. */
  readonly passing?: boolean;
  readonly startingMs?: number;
  readonly engineLogger?: Logger;
}

/**
 * Starts engines only if no addresses are configured and none run on the data directory. Rejects with `DirectoryInUse`
 * if another process locks it for `startingMs` without running engines.
 */
export async function findServers(
  values: Pick<AnnalsValues, 'eventStore.url' | 'mongo.url' | 'dataDir'>,
  logger: Logger,
  { passing = false, startingMs = STARTING_MS, engineLogger = logger }: FindOptions = {},
): Promise<Servers> {
  const { 'eventStore.url': eventStoreUrl, 'mongo.url': mongoUrl } = values;
  if (eventStoreUrl && mongoUrl) return { eventStoreUrl, mongoUrl, kind: 'given', stop: async () => {} };
  const dataDir = resolve(values.dataDir);
  let until = performance.now() + startingMs;
  let lastMessage = '';
  const logOnce = (message: string) => {
    if (message !== lastMessage) logger.info({ dataDir }, message);
    lastMessage = message;
  };
  for (; ; await delay(RETRY_MS)) {
    const running = findRuntime(dataDir);
    if (running?.passing && !passing) {
      logOnce(`waiting for a command that uses ${dataDir} to end, process ${running.pid}`);
      until = performance.now() + startingMs;
      continue;
    }
    if (running)
      return {
        ...running,
        kind: 'embedded, of another process',
        awaitLoss: (restartMs) => awaitLoss(dataDir, running, restartMs),
        stop: async () => {},
      };
    try {
      const engines: Engines = await startEngines({ dataDir, passing, logger: engineLogger });
      return { ...engines, kind: 'embedded' };
    } catch (error) {
      // The engines are starting or stopping: soon they can be found, or the directory is free.
      if (!(error instanceof DirectoryInUse) || performance.now() > until) throw error;
      logOnce(`${error.message}; waiting for its engines`);
    }
  }
}

async function awaitLoss(dataDir: string, { pid, startedAt }: Runtime, restartMs = RESTART_MS) {
  for (let missingSince: number | undefined; ; ) {
    await delay(CHECK_MS, undefined, { ref: false });
    const current = readRuntime(dataDir);
    if (current && (current.pid !== pid || current.startedAt !== startedAt)) return 'replaced';
    missingSince = current && isAlive(pid) ? undefined : (missingSince ?? performance.now());
    // Checked last: a process that holds the lock may be starting engines, which can take long.
    const isMissing = missingSince !== undefined && performance.now() - missingSince >= restartMs;
    if (isMissing && isFree(dataDir)) return 'gone';
  }
}

/** False while the lock can't be checked; the caller checks again. */
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
    // EPERM: alive, but of another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

const [NODE, NAME] = ['node', 'name'];
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/**
 * Names this process in leases. The first process on a data directory keeps its name over restarts, so that it gets
 * its leases back without waiting for them to expire; any further process gets a new name.
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
  const stored = existsSync(file) && readFileSync(file, 'utf8').trim();
  // A failing disk may have left half a name.
  if (stored && UUID.test(stored)) return stored;
  const name = randomUUID();
  writePrivateFile(file, `${name}\n`);
  return name;
}

/** Copies the stored node name, if any, to a copy of the data directory. */
export function copyNodeName(dataDir: string, copy: string): void {
  const file = join(dataDir, NODE, NAME);
  if (!existsSync(file)) return;
  ensurePrivateDirectory(join(copy, NODE));
  writePrivateFile(join(copy, NODE, NAME), readFileSync(file, 'utf8'));
}
