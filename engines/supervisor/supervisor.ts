/** Starts the two embedded engines, each in a process of its own, and again when one dies (docs/guide/engines.md). */
import { type ChildProcess, fork, type SendHandle } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ChildMessage, Failure, ParentMessage, Ready } from './child-main.js';
import { lockDirectory } from './directory-lock.js';
import type { HeldPort } from './held-port.js';
import { closeTree } from './private-files.js';
import { anonymousBytes } from './process-memory.js';
import { removeRuntime, writeRuntime } from './runtime-file.js';
import { checkStore, checkStores, type EngineKind, markStores, RESTORE, StoreDamaged } from './store-check.js';

export interface Engines {
  /** Both with the secret that the engines want to be shown: not for a log, nor for a command line. */
  readonly eventStoreUrl: string;
  readonly mongoUrl: string;
  /** How many events of the log were met, since this start, that are damaged and left out. */
  damaged(): number;
  /** What each takes of memory now, in bytes, without its store; left out where that is not known. */
  memory(): ReadonlyMap<EngineKind, number>;
  /** Stops both cleanly; forces them after 5 s. */
  stop(): Promise<void>;
}

/** Receives one line and its fields; pino fits. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface EnginesOptions {
  readonly dataDir: string;
  /** 0 picks a free port. */
  readonly eventStorePort?: number;
  readonly mongoPort?: number;
  /** They go when a command is done: who serves does not rely on them. */
  readonly passing?: boolean;
  readonly logger: Logger;
}

/** An address for log lines: without credentials and connection name. */
const withoutSecret = (url: string): string => url.replace(/\/\/[^/]*@/, '//').replace(/\?.*$/, '');

/** What may stand open in a data directory of before. The lock and `runtime.json` are made anew. */
const OURS = ['lock', 'node', 'stores', 'secret', 'eventstore', 'mongo'];
const STOP_MS = 5000;
const RESTART_MS = 100;
/** So often it is told that an engine is not up yet, ms. */
const LATE_MS = 10_000;

/**
 * Rejects with `DirectoryInUse` when another process runs engines on the directory, and with `StoreDamaged` when a
 * store can't be used; then neither engine runs.
 */
export async function startEngines(options: EnginesOptions): Promise<Engines> {
  const { dataDir, eventStorePort = 0, mongoPort = 0, passing = false, logger } = options;
  const lock = lockDirectory(dataDir);
  // One that was killed left its addresses behind: others would take them for those of this start.
  removeRuntime(dataDir);
  // Before the first start there may be other people's things of these names, but for the secret.
  const ours = existsSync(join(dataDir, 'eventstore')) ? OURS : ['secret'];
  for (const name of ours) closeTree(join(dataDir, name));
  const damaged = new Set<number>();
  const heard = (message: ChildMessage) => {
    if ('damaged' in message) damaged.add(message.damaged);
  };
  const secret = randomBytes(32).toString('base64url');
  const [eventStore, mongo, runtime] = await startBoth().catch((error) => {
    lock.release();
    throw error;
  });
  async function startBoth() {
    checkStores(dataDir);
    const starting = [
      startEngine('eventstore', dataDir, eventStorePort, secret, logger, heard),
      startEngine('mongo', dataDir, mongoPort, secret, logger),
    ] as const;
    try {
      const [eventStore, mongo] = await Promise.all(starting);
      markStores(dataDir, { eventstore: eventStore.isNew, mongo: mongo.isNew });
      const runtime = { eventStoreUrl: eventStore.url, mongoUrl: mongo.url };
      const startedAt = new Date().toISOString();
      writeRuntime(dataDir, { pid: process.pid, ...runtime, startedAt, ...(passing && { passing }) });
      return [eventStore, mongo, runtime] as const;
    } catch (error) {
      // Where one has failed the other may be ready later: it is waited for, to be stopped.
      await Promise.all(starting.map((each) => each.then((engine) => engine.stop()).catch(() => {})));
      throw error;
    }
  }
  return {
    ...runtime,
    damaged: () => damaged.size,
    memory() {
      const taken = new Map<EngineKind, number>();
      for (const { kind, memory } of [eventStore, mongo]) {
        const bytes = memory();
        if (bytes !== undefined) taken.set(kind, bytes);
      }
      return taken;
    },
    async stop() {
      removeRuntime(dataDir);
      await Promise.all([eventStore.stop(), mongo.stop()]);
      lock.release();
    },
  };
}

/** An engine does not start; the message is one line that says which and why. */
export class EngineFailed extends Error {
  override readonly name = 'EngineFailed';
}

interface Engine extends Pick<Ready, 'url' | 'isNew'> {
  readonly kind: EngineKind;
  memory(): number | undefined;
  stop(): Promise<void>;
}

async function startEngine(
  kind: EngineKind,
  dataDir: string,
  port: number,
  secret: string,
  logger: Logger,
  heard: (message: ChildMessage) => void = () => {},
): Promise<Engine> {
  const directory = resolve(dataDir, kind);
  let child = launch(kind, directory, port, secret).on('message', heard);
  const { held, ...first } = await ready(child, kind, directory, logger);
  const url = withoutSecret(first.url);
  const store = checkStore(dataDir, kind);
  let stopping = false;

  const watch = () =>
    child.once('exit', async (code, signal) => {
      if (stopping) return;
      const damage = `; if it does so again, its disk is full, or ${directory} is damaged: ${RESTORE}`;
      const told = DAMAGED.has(signal) ? damage : '';
      logger.error({ engine: kind, code, signal }, `engine died, starting it again${told}`);
      for (;;) {
        try {
          // It would begin a new one where the data directory has been moved away, or open what was put in its place.
          checkStore(dataDir, kind, store);
          child = launch(kind, directory, first.port, secret, held).on('message', heard);
          await ready(child, kind, directory, logger);
          logger.warn({ engine: kind, url, pid: child.pid }, 'engine is back');
          return watch();
        } catch (error) {
          if (stopping) return;
          logger.error({ err: error, engine: kind }, 'engine does not start');
          await delay(RESTART_MS * 10);
        }
      }
    });
  watch();
  logger.info({ engine: kind, url, directory, pid: child.pid }, 'engine started');

  return {
    ...first,
    kind,
    memory: () => anonymousBytes(child.pid),
    async stop() {
      stopping = true;
      held?.close();
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      const force = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      tell(child, 'stop');
      await gone;
      clearTimeout(force);
    },
  };
}

const CHILD = fileURLToPath(new URL('./child-main.js', import.meta.url));

/** Engines make little garbage that lives: a small young generation saves 40 MB each under load. */
const ENGINE_FLAGS = ['--max-semi-space-size=4'];

function launch(kind: string, directory: string, port: number, secret: string, held?: HeldPort): ChildProcess {
  // What a child shares of our output is made to block, for us too: who reads no more would stop both. By the end of its
  // input, which stays open as long as this process lives, it knows that it has no parent any more.
  const child = fork(CHILD, [kind, directory, String(port)], {
    stdio: ['pipe', 'ignore', 'pipe', 'ipc'],
    execArgv: ENGINE_FLAGS,
  });
  child.stderr?.pipe(process.stderr, { end: false });
  // Also when this process ends without stopping it: nobody else would.
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  // One that could not be started has no channel; `ready` hears why.
  child.on('error', () => process.off('exit', kill));
  // Command lines are read by everybody; what is said between the two processes is not.
  tell(child, { secret }, held);
  return child;
}

/** One that has died meanwhile is told nothing; that it died is heard of elsewhere. */
const tell = (child: ChildProcess, message: ParentMessage, held?: HeldPort) =>
  child.send?.(message, held as SendHandle, {}, () => {});

/** `held`: the port that it listens on, from a child that was not given it. */
type Up = Ready & { readonly held?: HeldPort };

/** Resolves when the child has said that it is up; rejects with `EngineFailed`, or `StoreDamaged` if by what is stored. */
export async function ready(
  child: ChildProcess,
  kind: string,
  directory: string,
  logger: Pick<Logger, 'warn'>,
  lateMs = LATE_MS,
): Promise<Up> {
  const died = once(child, 'exit').then(
    ([code, signal]): Failure => ({ failed: `it died at start (${signal ?? code})` }),
    (error: Error): Failure => ({ failed: error.message }),
  );
  // Listened to until then: messages may come together, and one that nobody hears is lost.
  const said = new Promise<{ readonly ready: Up } | Failure>((resolve) =>
    child.on('message', (message: ChildMessage, held?: HeldPort) => {
      if ('ready' in message) resolve({ ready: { ...message.ready, ...(held && { held }) } });
      else if ('failed' in message) resolve(message);
    }),
  );
  // It may have much to look through, or be frozen: it is waited for, but not in silence.
  const late = () => logger.warn({ engine: kind, directory, pid: child.pid }, 'engine is not up yet');
  const telling = setInterval(late, lateMs);
  const outcome = await Promise.race([said, died]);
  clearInterval(telling);
  if ('ready' in outcome) return outcome.ready;
  await died;
  const what = `the ${kind} engine did not start: ${outcome.failed}`;
  if (outcome.isDamaged) throw new StoreDamaged(what);
  // Reading what is not there ends a process in the kernel, in so many ways.
  const damaged = DAMAGED.has(child.signalCode) || outcome.failed.includes('MDB_');
  if (!damaged) throw new EngineFailed(what);
  throw new StoreDamaged(`${what}; ${directory} is damaged or cut short: ${RESTORE}`);
}

const DAMAGED: ReadonlySet<NodeJS.Signals | null> = new Set(['SIGBUS', 'SIGSEGV', 'SIGABRT']);
