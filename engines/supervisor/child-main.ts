/**
 * Entry point of an engine process: `node child-main.js <eventstore|mongo> <directory> <port>`, forked by
 * `supervisor.ts`.
 */
import type { SendHandle } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { DirectoryInUse, lockDirectory } from './directory-lock.js';
import type { HeldPort } from './held-port.js';
import { tuneNextTick } from './next-tick-tuning.js';
import { StoreDamaged } from './store-check.js';

/** Message from child to parent: first the outcome of the start, then the position of each damaged event found. */
export type ChildMessage = { readonly ready: Ready } | Failure | { readonly damaged: number };
export interface Failure {
  readonly failed: string;
  /** True if damaged stored data prevents the start. */
  readonly isDamaged?: boolean;
}
export interface Ready {
  readonly url: string;
  readonly port: number;
  /** True if nothing has ever been stored. */
  readonly isNew: boolean;
}

/**
 * Message from parent to child: first the secret that clients must present (with the listening socket, if the parent
 * has one), later `stop`.
 */
export type ParentMessage = { readonly secret: string } | 'stop';

const LOCK_TIMEOUT_MS = 10_000;
const [, , kind, directory = '', port = '0'] = process.argv;

const sendToParent = (message: ChildMessage, held?: HeldPort) =>
  new Promise<void>((resolve) => process.send?.(message, held as SendHandle, {}, () => resolve()));

async function receiveSecret() {
  const [message, held] = (await once(process, 'message')) as [ParentMessage, HeldPort | undefined];
  return message === 'stop' ? process.exit(0) : { secret: message.secret, held };
}

/** Loads only the engine that runs in this process. */
const load = async () =>
  kind === 'mongo'
    ? (await import('../mongo/engine.js')).startMongoEngine
    : (await import('../eventstore/engine.js')).startEventStoreEngine;

/** Locks the directory. Waits for the engine of a killed parent, which may still be shutting down. */
async function lock() {
  for (const deadline = Date.now() + LOCK_TIMEOUT_MS; ; await delay(20)) {
    try {
      return lockDirectory(directory);
    } catch (error) {
      if (!(error instanceof DirectoryInUse) || Date.now() > deadline) throw error;
    }
  }
}

/**
 * Resolves when the parent is dead. The parent holds the other end of standard input. The IPC channel does not report
 * its end while a socket sent over it is unacknowledged, as happens when the parent is killed.
 */
const orphaned = new Promise((resolve) => process.stdin.on('error', resolve).on('close', resolve).resume());

tuneNextTick();
// Files created by the store are private to this user.
process.umask(0o077);
// Ctrl-C and service managers signal the whole process group; the parent decides when engines stop.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});

try {
  const [{ secret, held }, start] = await Promise.all([receiveSecret(), load(), lock()]);
  const onFatal = (error: Error) => {
    const reason = error instanceof StoreDamaged ? error.message : error.stack;
    process.stderr.write(`${kind} engine failed: ${reason}\n`);
    process.exit(1);
  };
  const onDamaged = (position: number) => void sendToParent({ damaged: position });
  const engine = await start({ directory, port: held ?? Number(port), secret, onFatal, onDamaged });
  let stopping = false;
  const stop = () => {
    if (stopping) return;
    stopping = true;
    engine.stop().finally(() => process.exit(0));
  };
  process.on('message', stop);
  // The parent may have died while the store was opened.
  void orphaned.then(stop);
  const ready = { url: engine.url, port: engine.port, isNew: engine.isNew };
  await sendToParent({ ready }, held ? undefined : engine.held);
} catch (error) {
  const failed = error instanceof Error ? error.message : String(error);
  await sendToParent({ failed, isDamaged: error instanceof StoreDamaged });
  process.exit(1);
}
