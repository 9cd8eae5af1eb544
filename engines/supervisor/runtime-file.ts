/** `runtime.json` in the data directory: how other processes of this user find the engines that run on it. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isLocked } from './directory-lock.js';
import { writePrivately } from './private-files.js';

export interface Runtime {
  readonly pid: number;
  /** Both with the secret that the engines want to be shown. */
  readonly eventStoreUrl: string;
  readonly mongoUrl: string;
  readonly startedAt: string;
  /** A command has started them for itself: they go when it is done. */
  readonly passing?: true;
}

const pathIn = (dataDir: string) => join(dataDir, 'runtime.json');

export function writeRuntime(dataDir: string, runtime: Runtime): void {
  writePrivately(pathIn(dataDir), `${JSON.stringify(runtime, null, 2)}\n`);
}

export const removeRuntime = (dataDir: string): void => rmSync(pathIn(dataDir), { force: true });

/** The engines that run on the directory now; what a killed process left behind does not count. */
export const findRuntime = (dataDir: string): Runtime | undefined =>
  isLocked(dataDir) ? readRuntime(dataDir) : undefined;

/** The engines that ran on the directory last; asked without a look at the lock, which whoever starts some now wants. */
export function readRuntime(dataDir: string): Runtime | undefined {
  try {
    return JSON.parse(readFileSync(pathIn(dataDir), 'utf8'));
  } catch {
    return undefined;
  }
}
