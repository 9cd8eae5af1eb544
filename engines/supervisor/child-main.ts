/** The process an engine runs in: `node child.js <eventstore|mongo> <directory> <port>`, forked by `supervisor.ts`. */
import type { SendHandle } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { DirectoryInUse, lockDirectory } from './directory-lock.js';
import type { HeldPort } from './held-port.js';
import { keepTicksQuick } from './next-tick-tuning.js';
import { StoreDamaged } from './store-check.js';

/** What the child tells its parent: how its start went, then the position of every damaged event that it meets. */
export type ChildMessage = { readonly ready: Ready } | Failure | { readonly damaged: number };
export interface Failure {
  readonly failed: string;
  /** By what is stored. */
  readonly isDamaged?: boolean;
}
export interface Ready {
  readonly url: string;
  readonly port: number;
  /** Nobody has ever stored anything in it. */
  readonly isNew: boolean;
}

/** What the parent tells the child: first the secret that clients must show, with the port if it holds it; then to stop. */
export type ParentMessage = { readonly secret: string } | 'stop';

const PREDECESSOR_MS = 10_000;
const [, , kind, directory = '', port = '0'] = process.argv;

const tell = (message: ChildMessage, held?: HeldPort) =>
  new Promise<void>((resolve) => process.send?.(message, held as SendHandle, {}, () => resolve()));

async function toldByParent() {
  const [message, held] = (await once(process, 'message')) as [ParentMessage, HeldPort | undefined];
  return message === 'stop' ? process.exit(0) : { secret: message.secret, held };
}

/** Loads the one engine that is to run here. */
const load = async () =>
  kind === 'mongo'
    ? (await import('../mongo/engine.js')).startMongoEngine
    : (await import('../eventstore/engine.js')).startEventStoreEngine;

/** The engine of a killed parent may still be going down: it is given a moment. */
async function lock() {
  for (const deadline = Date.now() + PREDECESSOR_MS; ; await delay(20)) {
    try {
      return lockDirectory(directory);
    } catch (error) {
      if (!(error instanceof DirectoryInUse) || Date.now() > deadline) throw error;
    }
  }
}

/**
 * The parent holds the other end of our standard input. Of the channel's end nobody is told while a port that went
 * over it is not acknowledged, as by a parent that was killed before it came to that.
 */
const orphaned = new Promise((resolve) => process.stdin.on('error', resolve).on('close', resolve).resume());

keepTicksQuick();
// Whatever the store makes is for this user alone.
process.umask(0o077);
// Ctrl-C and service supervisors signal the whole process group: the parent decides when the engines go.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});

try {
  const [{ secret, held }, start] = await Promise.all([toldByParent(), load(), lock()]);
  const onFatal = (error: Error) => {
    const what = error instanceof StoreDamaged ? error.message : error.stack;
    process.stderr.write(`${kind} engine failed: ${what}\n`);
    process.exit(1);
  };
  const onDamaged = (position: number) => void tell({ damaged: position });
  const engine = await start({ directory, port: held ?? Number(port), secret, onFatal, onDamaged });
  let stopping = false;
  const stop = () => {
    if (stopping) return;
    stopping = true;
    engine.stop().finally(() => process.exit(0));
  };
  process.on('message', stop);
  // Perhaps while the store was opened.
  void orphaned.then(stop);
  const ready = { url: engine.url, port: engine.port, isNew: engine.isNew };
  await tell({ ready }, held ? undefined : engine.held);
} catch (error) {
  const failed = error instanceof Error ? error.message : String(error);
  await tell({ failed, isDamaged: error instanceof StoreDamaged });
  process.exit(1);
}
