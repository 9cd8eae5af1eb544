/**
 * Runs embedded engines for tests, each with its own store. All engines of a kind share one process, which starts only
 * once.
 */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { COMPILER_FLAGS, killOnExit } from './children.js';
import type { EngineRequest, EngineResponse, StartedEngine, StartOptions } from './shared-engines-process.js';

export type Kind = 'eventstore' | 'mongo';

export interface SharedEngine extends StartedEngine {
  /** Closes the engine's connections and its store. */
  stop(): Promise<void>;
}

/** Starts an engine in the shared process. Tests that kill or freeze an engine need one with its own process. */
export async function startSharedEngine(kind: Kind, begin: StartOptions): Promise<SharedEngine> {
  const engineProcess = processOf(kind);
  const started = (await engineProcess.ask({ begin })) as StartedEngine;
  return { ...started, stop: async () => void (await engineProcess.ask({ end: started.port })) };
}

interface EngineProcess {
  ask(nextId: EngineRequest): Promise<StartedEngine | undefined>;
}

const processes = new Map<Kind, EngineProcess>();

function processOf(kind: Kind): EngineProcess {
  const existing = processes.get(kind) ?? spawnProcess(kind);
  processes.set(kind, existing);
  return existing;
}

const ENTRY = fileURLToPath(new URL('./shared-engines-process.js', import.meta.url));

function spawnProcess(kind: Kind): EngineProcess {
  const child = killOnExit(
    fork(ENTRY, [kind], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      execArgv: [...COMPILER_FLAGS, '--max-semi-space-size=4'],
    }),
  );
  const pending = new Map<number, { resolve(started?: StartedEngine): void; reject(error: Error): void }>();
  let [nextId, runningEngines] = [0, 0];
  child.on('message', ({ id, started, failed }: EngineResponse) => {
    if (failed === undefined) pending.get(id)?.resolve(started);
    else pending.get(id)?.reject(new Error(failed));
    pending.delete(id);
  });
  child.once('exit', (code, signal) => {
    processes.delete(kind);
    for (const { reject } of pending.values()) reject(new Error(`the ${kind} engines ended with ${signal ?? code}`));
  });
  /** The child keeps this process alive only while it runs engines. */
  const keepAlive = (isHeld: boolean) => {
    for (const each of [child, child.channel]) isHeld ? each?.ref() : each?.unref();
  };
  return {
    async ask(request) {
      const id = nextId++;
      if ('begin' in request) runningEngines++;
      keepAlive(true);
      const answer = await new Promise<StartedEngine | undefined>((resolve, reject) => {
        pending.set(id, { resolve, reject });
        child.send({ id, ...request }, (error) => error && reject(error));
      }).finally(() => pending.delete(id));
      if ('end' in request) runningEngines--;
      keepAlive(runningEngines > 0 || pending.size > 0);
      return answer;
    },
  };
}
