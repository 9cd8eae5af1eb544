/** The program as people start it: a process, its input and output, its exit code. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { killOnExit } from '@annals/engines/testing/children.js';

const PROGRAM = fileURLToPath(new URL('../../bin/annals.js', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Resolves when what was printed so far on either output matches. */
  printed(pattern: RegExp): Promise<void>;
}

export function start(args: readonly string[], { cwd = '/', env = {} }: { cwd?: string; env?: object } = {}): Running {
  const child = killOnExit(
    spawn(process.execPath, [PROGRAM, ...args], {
      cwd,
      env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined, ...env },
    }),
  );
  let [stdout, stderr] = ['', ''];
  const watching = new Set<() => void>();
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
    for (const look of watching) look();
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
    for (const look of watching) look();
  });
  child.stdin.on('error', () => {});
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
  return {
    process: child,
    ended,
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (pattern.test(stdout + stderr)) resolve();
        };
        watching.add(look);
        look();
        ended.then(() => reject(new Error(`it ended without printing ${pattern}: ${stdout}${stderr}`)));
      }),
  };
}

/** Runs to its end with this on its standard input. */
export function run(args: readonly string[], input = '', options = {}): Promise<Ended> {
  const running = start(args, options);
  running.process.stdin?.end(input);
  return running.ended;
}
