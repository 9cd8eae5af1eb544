/**
 * Provides an event store for tests: the one at EVENTSTORE_URL, else an embedded engine, optionally in its own
 * process.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { killOnExit } from './children.js';
import { startSharedEngine } from './shared-engines.js';

/** Secret of the embedded engine in tests with hand-made calls. */
export const SECRET = 'the secret of these tests';

export interface EventStoreServer<E extends Embedded = Embedded> {
  readonly url: string;
  /** Details of an embedded engine; undefined for a real server. */
  readonly embedded: E | undefined;
  stop(): Promise<void>;
}

export interface Embedded {
  readonly port: number;
  readonly directory: string;
}

export interface EmbeddedServer extends Embedded {
  readonly pid: number;
  /** Milliseconds of the last start, from opening the store to serving. */
  readonly startedIn: number;
  /** Ends the process with the signal, runs `beforeRestart`, and starts it again on the same port and directory. */
  restart(signal: 'SIGKILL' | 'SIGTERM', beforeRestart?: () => void): Promise<void>;
}

interface Ready {
  readonly url: string;
  readonly port: number;
  readonly startedIn: number;
}

/** Finds or starts an event store. `stop` removes process and directory. */
export async function eventStoreServer(): Promise<EventStoreServer> {
  const realUrl = process.env.EVENTSTORE_URL;
  if (realUrl) return { url: realUrl, embedded: undefined, stop: async () => {} };
  const directory = await mkdtemp(join(tmpdir(), 'annals-eventstore-'));
  const { url, port, stop } = await startSharedEngine('eventstore', { directory, secret: SECRET });
  return {
    url,
    embedded: { port, directory },
    async stop() {
      await stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Same in its own process, which tests may freeze and kill. */
export async function ownEventStoreServer(): Promise<EventStoreServer<EmbeddedServer>> {
  const realUrl = process.env.EVENTSTORE_URL;
  if (realUrl) return { url: realUrl, embedded: undefined, stop: async () => {} };
  return embeddedEventStore(await mkdtemp(join(tmpdir(), 'annals-eventstore-')));
}

/** Starts an embedded engine in its own process over `directory`, which `stop` removes. */
export async function embeddedEventStore(
  directory: string,
): Promise<EventStoreServer & { readonly embedded: EmbeddedServer }> {
  let { child, ready } = await start(directory, 0);
  const end = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  };
  return {
    url: ready.url,
    embedded: {
      port: ready.port,
      directory,
      get pid() {
        return child.pid!;
      },
      get startedIn() {
        return ready.startedIn;
      },
      async restart(signal, beforeRestart) {
        await end(signal);
        beforeRestart?.();
        ({ child, ready } = await start(directory, ready.port));
      },
    },
    async stop() {
      await end('SIGTERM');
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const ENTRY = fileURLToPath(new URL('./eventstore-process.js', import.meta.url));

async function start(directory: string, port: number): Promise<{ child: ChildProcess; ready: Ready }> {
  const child = killOnExit(
    fork(ENTRY, [directory, String(port)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      // Most of the engine's objects are short-lived: a small nursery halves its memory at no cost.
      execArgv: ['--max-semi-space-size=4'],
    }),
  );
  const [message] = await Promise.race([
    once(child, 'message') as Promise<[Ready]>,
    once(child, 'exit').then(([code]) => {
      throw new Error(`the engine ended at start with ${code}`);
    }),
  ]);
  return { child, ready: message };
}
