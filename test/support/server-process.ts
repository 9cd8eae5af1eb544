/** The program as its users run it: a process of its own, found by what it prints. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { killOnExit } from '@annals/engines/testing/children.js';
import { serviceNames } from '../../bin/settings.js';
import { reportOutput } from './mocha-hooks.js';
import { NO_LIMITS } from './no-limits.js';

export const ANNALS = fileURLToPath(new URL('../../bin/annals.js', import.meta.url));

export interface Server {
  readonly child: ChildProcess;
  /** By service, for example `http://127.0.0.1:3004`. */
  readonly urls: { readonly [service: string]: string };
  /** The process id of each engine just now. */
  readonly pids: { readonly [engine: string]: number };
  /** Process ids of the engines it started. */
  readonly enginePids: readonly number[];
  /** All that it has printed. */
  readonly lines: readonly string[];
  /** From its start to being ready. */
  readonly ms: number;
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

const SILENT = /--log-level[ =](warn|error|silent)/;
/** Flags by which every service, and the operations port, listens on a port that nobody has. */
export const FREE_PORTS = [...serviceNames, 'operations'].flatMap((name) => [`--${name}-port`, '0']);

/**
 * Rejects with what the process printed when it ends before it is ready. That it is ready, and where, it says at level
 * `info`, whatever the environment of the tests says of that; flags by which it would say nothing are refused.
 */
export async function startServer(
  dataDir: string,
  flags: readonly string[] = [],
  env = {},
  program = ANNALS,
): Promise<Server> {
  if (SILENT.test(flags.join(' '))) throw new RangeError('nothing would tell that the server is ready');
  // Another build may not know these settings.
  const limits = program === ANNALS ? Object.entries(NO_LIMITS).flat() : [];
  const printing = ['--log-format', 'json', '--log-level', 'info'];
  const args = ['serve', '--data-dir', dataDir, ...printing, ...FREE_PORTS, ...limits, ...flags];
  const child = killOnExit(
    spawn(process.execPath, [program, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    }),
  );
  const lines: string[] = [];
  const urls: { [service: string]: string } = {};
  const enginePids: number[] = [];
  const pids: { [engine: string]: number } = {};
  child.stderr?.on('data', (chunk) => lines.push(String(chunk)));
  const ready = new Promise<number>((resolve) => {
    createInterface({ input: child.stdout! }).on('line', (line) => {
      lines.push(line);
      const { service, url, msg, ms, engine, pid } = parsed(line);
      if (service && url) urls[service] = url;
      if (engine && pid) enginePids.push(pid);
      if (engine && pid) pids[engine] = pid;
      if (msg === 'ready') resolve(ms ?? 0);
    });
  });
  const ended = once(child, 'exit').then(() => {
    throw new Error(`the server ended at its start:\n${lines.join('\n')}`);
  });
  const ms = await Promise.race([ready, ended]);
  ended.catch(() => {});
  const forget = reportOutput(lines);
  return {
    child,
    urls,
    pids,
    enginePids,
    lines,
    ms,
    async stop(signal = 'SIGTERM') {
      forget();
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      const gone = once(child, 'exit');
      child.kill(signal);
      await gone;
      return child.exitCode;
    },
  };
}

/** Below those that systems give to whoever asks for any: tests beside this one do, between a crash and the start after it. */
const [FIRST_PORT, LAST_PORT] = [20_000, 32_000];

/** A port that can be had again after a crash, for clients that come back. */
export async function freePort(): Promise<string> {
  const port = randomInt(FIRST_PORT, LAST_PORT);
  const probe = createServer().listen(port, '127.0.0.1');
  const isFree = await once(probe, 'listening').then(
    () => true,
    () => false,
  );
  if (!isFree) return freePort();
  probe.close();
  await once(probe, 'close');
  return String(port);
}

interface Line {
  readonly service?: string;
  readonly url?: string;
  readonly msg?: string;
  readonly ms?: number;
  readonly engine?: string;
  readonly pid?: number;
}

function parsed(line: string): Line {
  try {
    return JSON.parse(line);
  } catch {
    return {};
  }
}
