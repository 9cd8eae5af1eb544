/**
 * Reads and writes `runtime.json` in the data directory, through which other processes of this user find the running
 * engines.
 */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isLocked } from './directory-lock.js';
import { writePrivateFile } from './private-files.js';

export interface Runtime {
  readonly pid: number;
  /** Both URLs contain the engines' secret. */
  readonly eventStoreUrl: string;
  readonly mongoUrl: string;
  readonly startedAt: string;
  /** The engines were started by a command for itself and stop when it ends. */
  readonly passing?: true;
}

const pathIn = (dataDir: string) => join(dataDir, 'runtime.json');

export function writeRuntime(dataDir: string, runtime: Runtime): void {
  writePrivateFile(pathIn(dataDir), `${JSON.stringify(runtime, null, 2)}\n`);
}

export const removeRuntime = (dataDir: string): void => rmSync(pathIn(dataDir), { force: true });

/** The engines running on the directory now; ignores a file left behind by a killed process. */
export const findRuntime = (dataDir: string): Runtime | undefined =>
  isLocked(dataDir) ? readRuntime(dataDir) : undefined;

/**
 * The engines that last ran on the directory. Does not test the lock, which a starting process may be about to take.
 */
export function readRuntime(dataDir: string): Runtime | undefined {
  try {
    return JSON.parse(readFileSync(pathIn(dataDir), 'utf8'));
  } catch {
    return undefined;
  }
}
