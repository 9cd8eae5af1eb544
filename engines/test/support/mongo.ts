/** Provides a MongoDB for tests: the server at MONGODB_URL, else an embedded engine, optionally in its own process. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { killOnExit } from './children.js';
import { SECRET } from './raw-client.js';
import { startSharedEngine } from './shared-engines.js';

/** True if the tests run against a real server, which must not be killed or manipulated. */
export const isReal = process.env.MONGODB_URL !== undefined;

export interface MongoServer {
  readonly url: string;
  /** The embedded engine's port; 0 for a realUrl server. */
  readonly port: number;
  /** Directory of the embedded engine's store. */
  readonly directory: string | undefined;
  /** Process id of an embedded engine with its own process. */
  readonly pid: number | undefined;
  /**
   * Ends an embedded engine that has its own process with a signal and starts it again on the same directory and port.
   */
  restart(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  /** Ends the embedded engine and removes its directory. Rejects if the engine exits with an error. */
  stop(): Promise<void>;
}

const CHILD = fileURLToPath(new URL('./mongo-process.js', import.meta.url));

export interface MongoOptions {
  /** Milliseconds between removals of expired documents. */
  readonly housekeepingMs?: number;
  /** Runs the engine in its own process, which tests may kill or freeze. */
  readonly ownProcess?: boolean;
}

/** Finds or starts a server. */
export async function mongoServer({ ownProcess, ...options }: MongoOptions = {}): Promise<MongoServer> {
  const realUrl = process.env.MONGODB_URL;
  const refuse = () => Promise.reject(new Error('a server that others use is not restarted'));
  const shared = { pid: undefined, restart: refuse };
  if (realUrl) return { ...shared, url: realUrl, port: 0, directory: undefined, stop: async () => undefined };
  const directory = await mkdtemp(join(tmpdir(), 'annals-mongo-'));
  if (!ownProcess) {
    const { stop, ...engine } = await startSharedEngine('mongo', { directory, secret: SECRET, ...options });
    return {
      ...shared,
      ...engine,
      directory,
      async stop() {
        await stop();
        await rm(directory, { recursive: true, force: true });
      },
    };
  }
  let child: ChildProcess;
  const start = async (port: number): Promise<{ url: string; port: number }> => {
    const args = [directory, String(port), ...(options.housekeepingMs ? [String(options.housekeepingMs)] : [])];
    child = killOnExit(fork(CHILD, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }));
    const started = once(child, 'message').then(([message]) => message as { url: string; port: number });
    const failed = once(child, 'exit').then(([code]) => Promise.reject(new Error(`the engine ended with ${code}`)));
    const result = await Promise.race([started, failed]);
    failed.catch(() => undefined);
    return result;
  };
  const { url, port } = await start(0);
  const end = async (terminate: () => void): Promise<unknown> => {
    const ended = once(child, 'exit');
    terminate();
    const [code] = await ended;
    return code;
  };
  return {
    url,
    port,
    directory,
    get pid() {
      return child.pid;
    },
    async restart(signal) {
      await end(() => child.kill(signal));
      await start(port);
    },
    async stop() {
      const code = await end(() => child.send('stop'));
      await rm(directory, { recursive: true, force: true });
      if (code !== 0) throw new Error(`the engine ended with ${code}`);
    },
  };
}
