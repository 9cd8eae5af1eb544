/** A MongoDB for tests: the server that MONGODB_URL names, or an embedded engine, if it is to be killed in a process of its own. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { owned } from './children.js';
import { lodge } from './engine-house.js';
import { SECRET } from './raw-client.js';

/** Whether the tests run against a real server, where nothing may be killed or poked. */
export const isReal = process.env.MONGODB_URL !== undefined;

export interface MongoServer {
  readonly url: string;
  /** The embedded engine's port; 0 for a real server. */
  readonly port: number;
  /** Where the embedded engine keeps what is stored. */
  readonly directory: string | undefined;
  /** The embedded engine's process id, where it has a process of its own. */
  readonly pid: number | undefined;
  /** Ends an embedded engine with a process of its own by a signal and starts it again on the same directory and port. */
  restart(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  /** Ends the embedded engine and removes its directory. Errors: an engine that did not end well. */
  stop(): Promise<void>;
}

const CHILD = fileURLToPath(new URL('./mongo-process.js', import.meta.url));

export interface MongoOptions {
  /** How often the embedded engine expires documents. */
  readonly housekeepingMs?: number;
  /** Whether tests kill it, or freeze it: then it has a process of its own. */
  readonly ownProcess?: boolean;
}

/** Starts (or finds) a server. */
export async function mongoServer({ ownProcess, ...options }: MongoOptions = {}): Promise<MongoServer> {
  const real = process.env.MONGODB_URL;
  const refuse = () => Promise.reject(new Error('a server that others use is not restarted'));
  const shared = { pid: undefined, restart: refuse };
  if (real) return { ...shared, url: real, port: 0, directory: undefined, stop: async () => undefined };
  const directory = await mkdtemp(join(tmpdir(), 'annals-mongo-'));
  if (!ownProcess) {
    const { stop, ...lodger } = await lodge('mongo', { directory, secret: SECRET, ...options });
    return {
      ...shared,
      ...lodger,
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
    child = owned(fork(CHILD, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }));
    const started = once(child, 'message').then(([message]) => message as { url: string; port: number });
    const failed = once(child, 'exit').then(([code]) => Promise.reject(new Error(`the engine ended with ${code}`)));
    const result = await Promise.race([started, failed]);
    failed.catch(() => undefined);
    return result;
  };
  const { url, port } = await start(0);
  const end = async (how: () => void): Promise<unknown> => {
    const ended = once(child, 'exit');
    how();
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
