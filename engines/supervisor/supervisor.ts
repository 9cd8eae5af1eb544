/** Starts both embedded engines as child processes and restarts one that dies (docs/guide/engines.md). */
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
import { makeTreePrivate } from './private-files.js';
import { anonymousBytes } from './process-memory.js';
import { removeRuntime, writeRuntime } from './runtime-file.js';
import { checkStore, checkStores, type EngineKind, markStores, RESTORE_HINT, StoreDamaged } from './store-check.js';

export interface Engines {
  /** Both URLs contain the engines' secret: keep them out of logs and command lines. */
  readonly eventStoreUrl: string;
  readonly mongoUrl: string;
  /** Number of damaged events found in the log, and skipped, since this start. */
  damagedEvents(): number;
  /** Memory of each engine in bytes, without its store; missing where unknown. */
  memory(): ReadonlyMap<EngineKind, number>;
  /** Stops both cleanly; forces them after 5 s. */
  stop(): Promise<void>;
}

/** Logger that takes fields and one line, such as pino. */
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
  /** The engines stop when the command that started them ends, so `serve` must not rely on them. */
  readonly passing?: boolean;
  readonly logger: Logger;
}

/** Strips credentials and connection name from an address for the log. */
const withoutSecret = (url: string): string => url.replace(/\/\/[^/]*@/, '//').replace(/\?.*$/, '');

/**
 * Entries of a data directory that older versions may have left readable to others. The lock and `runtime.json` are
 * always recreated.
 */
const PRIVATE_ENTRIES = ['lock', 'node', 'stores', 'secret', 'eventstore', 'mongo'];
const STOP_MS = 5000;
const RESTART_MS = 100;
/** Milliseconds between warnings that an engine is not up yet. */
const START_WARNING_MS = 10_000;

/**
 * Starts both engines, or none.
 *
 * Rejects with `DirectoryInUse` when another process runs engines on the directory, and with `StoreDamaged` when a
 * store cannot be used.
 */
export async function startEngines(options: EnginesOptions): Promise<Engines> {
  const { dataDir, eventStorePort = 0, mongoPort = 0, passing = false, logger } = options;
  const lock = lockDirectory(dataDir);
  // A killed process leaves its addresses behind; they must not be taken for the new ones.
  removeRuntime(dataDir);
  // Before the first start, entries of these names may belong to something else, except the secret.
  const entries = existsSync(join(dataDir, 'eventstore')) ? PRIVATE_ENTRIES : ['secret'];
  for (const name of entries) makeTreePrivate(join(dataDir, name));
  const damaged = new Set<number>();
  const onMessage = (message: ChildMessage) => {
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
      startEngine('eventstore', dataDir, eventStorePort, secret, logger, onMessage),
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
      // If one engine fails, the other may still become ready: wait for it, then stop it.
      await Promise.all(starting.map((each) => each.then((engine) => engine.stop()).catch(() => {})));
      throw error;
    }
  }
  return {
    ...runtime,
    damagedEvents: () => damaged.size,
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

/** An engine does not start. The message is one line that says which and why. */
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
  onMessage: (message: ChildMessage) => void = () => {},
): Promise<Engine> {
  const directory = resolve(dataDir, kind);
  let child = launch(kind, directory, port, secret).on('message', onMessage);
  const { held, ...first } = await waitUntilReady(child, kind, directory, logger);
  const url = withoutSecret(first.url);
  const store = checkStore(dataDir, kind);
  let stopping = false;

  const watch = () =>
    child.once('exit', async (code, signal) => {
      if (stopping) return;
      const damage = `; if it does so again, its disk is full, or ${directory} is damaged: ${RESTORE_HINT}`;
      const hint = DAMAGED.has(signal) ? damage : '';
      logger.error({ engine: kind, code, signal }, `engine died, starting it again${hint}`);
      for (;;) {
        try {
          // After the data directory was moved away, the engine would otherwise create a new store or open a different
          // one.
          checkStore(dataDir, kind, store);
          child = launch(kind, directory, first.port, secret, held).on('message', onMessage);
          await waitUntilReady(child, kind, directory, logger);
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
      const exited = once(child, 'exit');
      const force = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      sendToChild(child, 'stop');
      await exited;
      clearTimeout(force);
    },
  };
}

const CHILD = fileURLToPath(new URL('./child-main.js', import.meta.url));

/** Engines create little long-lived garbage: a small young generation saves 40 MB each under load. */
const ENGINE_FLAGS = ['--max-semi-space-size=4'];

function launch(kind: string, directory: string, port: number, secret: string, held?: HeldPort): ChildProcess {
  // Standard output is not shared: Node makes shared output blocking, so a stalled reader would stop both processes.
  // Standard input stays open as long as this process lives; its end tells the child that its parent died.
  const child = fork(CHILD, [kind, directory, String(port)], {
    stdio: ['pipe', 'ignore', 'pipe', 'ipc'],
    execArgv: ENGINE_FLAGS,
  });
  child.stderr?.pipe(process.stderr, { end: false });
  // Kills the child also when this process exits without stopping it.
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  // The child could not be started and has no channel; `waitUntilReady` reports why.
  child.on('error', () => process.off('exit', kill));
  // The secret is not passed on the command line, which every user can read.
  sendToChild(child, { secret }, held);
  return child;
}

/** Sends a message to a child. Errors are ignored: a dead child is noticed by its `exit` event. */
const sendToChild = (child: ChildProcess, message: ParentMessage, held?: HeldPort) =>
  child.send?.(message, held as SendHandle, {}, () => {});

/** `held`: the listening socket, from a child that was not passed one. */
type StartedChild = Ready & { readonly held?: HeldPort };

/**
 * Resolves when the child reports that it is up. Rejects with `EngineFailed`, or with `StoreDamaged` if stored data is
 * the cause.
 */
export async function waitUntilReady(
  child: ChildProcess,
  kind: string,
  directory: string,
  logger: Pick<Logger, 'warn'>,
  warnAfterMs = START_WARNING_MS,
): Promise<StartedChild> {
  const died = once(child, 'exit').then(
    ([code, signal]): Failure => ({ failed: `it died at start (${signal ?? code})` }),
    (error: Error): Failure => ({ failed: error.message }),
  );
  // One listener for both: messages may arrive together, and one without a listener is lost.
  const reported = new Promise<{ readonly ready: StartedChild } | Failure>((resolve) =>
    child.on('message', (message: ChildMessage, held?: HeldPort) => {
      if ('ready' in message) resolve({ ready: { ...message.ready, ...(held && { held }) } });
      else if ('failed' in message) resolve(message);
    }),
  );
  // Opening a large store may take long: wait, but warn.
  const warn = () => logger.warn({ engine: kind, directory, pid: child.pid }, 'engine is not up yet');
  const warnTimer = setInterval(warn, warnAfterMs);
  const outcome = await Promise.race([reported, died]);
  clearInterval(warnTimer);
  if ('ready' in outcome) return outcome.ready;
  await died;
  const what = `the ${kind} engine did not start: ${outcome.failed}`;
  if (outcome.isDamaged) throw new StoreDamaged(what);
  // Reading missing pages makes the kernel end the process with one of these signals.
  const damaged = DAMAGED.has(child.signalCode) || outcome.failed.includes('MDB_');
  if (!damaged) throw new EngineFailed(what);
  throw new StoreDamaged(`${what}; ${directory} is damaged or cut short: ${RESTORE_HINT}`);
}

const DAMAGED: ReadonlySet<NodeJS.Signals | null> = new Set(['SIGBUS', 'SIGSEGV', 'SIGABRT']);
