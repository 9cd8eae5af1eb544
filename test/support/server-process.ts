/** The program as its users run it: servers and commands as processes, and their files. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { COMPILER_FLAGS, killOnExit } from '@annals/engines/testing/children.js';
import { serviceNames } from '../../bin/settings.js';
import { reportOutput } from './mocha-hooks.js';

/** Flags that turn rate limits per minute off, for tests and benchmarks that send faster than people do. */
export const NO_LIMITS: { readonly [flag: string]: string } = {
  '--chat-messages-per-minute': '0',
  '--chat-webhook-messages-per-minute': '0',
  '--analytics-hits-per-minute': '0',
};

export const ANNALS = fileURLToPath(new URL('../../bin/annals.js', import.meta.url));

export interface Server {
  readonly child: ChildProcess;
  /** By service, for example `http://127.0.0.1:3004`. */
  readonly urls: { readonly [service: string]: string };
  /** Current process id of each engine. */
  readonly pids: { readonly [engine: string]: number };
  /** Process ids of the engines at start. */
  readonly enginePids: readonly number[];
  /** Printed lines. */
  readonly lines: readonly string[];
  /** Milliseconds from start to ready. */
  readonly ms: number;
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

const SILENT = /--log-level[ =](warn|error|silent)/;
/** Flags that make every service and the operations server listen on a free port. */
export const FREE_PORTS = [...serviceNames, 'operations'].flatMap((name) => [`--${name}-port`, '0']);

/**
 * Rejects with the output if the process ends before it is ready. Readiness and addresses are read from log lines of level
 * `info`, so the log level of the environment is overridden and flags that raise it are refused.
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
    spawn(process.execPath, [...COMPILER_FLAGS, program, ...args], {
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

/** Below the ephemeral range, which parallel tests use between a crash and the next start. */
const [FIRST_PORT, LAST_PORT] = [20_000, 32_000];

/** A port that stays usable after a crash, for clients that reconnect. */
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

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Resolves when the output so far, of stdout or stderr, matches. */
  printed(pattern: RegExp): Promise<void>;
}

export function start(args: readonly string[], { cwd = '/', env = {} }: { cwd?: string; env?: object } = {}): Running {
  const child = killOnExit(
    spawn(process.execPath, [...COMPILER_FLAGS, ANNALS, ...args], {
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

/** Runs a command to its end with `input` as its standard input. */
export function run(args: readonly string[], input = '', options = {}): Promise<Ended> {
  const running = start(args, options);
  running.process.stdin?.end(input);
  return running.ended;
}

export interface LoggedEvent {
  readonly type: string;
  /** ISO time. */
  readonly recordedAt: string;
}

/** The last 200 events with this stream or type in the log of a running server, oldest first. */
export async function eventsIn(
  { urls }: Server,
  which: { readonly stream: string } | { readonly type: string },
): Promise<readonly LoggedEvent[]> {
  const answer = await fetch(`${urls.operations}/events?${new URLSearchParams({ ...which, limit: '200' })}`);
  const { events } = (await answer.json()) as { readonly events?: LoggedEvent[] };
  if (!events) throw new Error(`the events were answered with ${answer.status}`);
  return events.reverse();
}

/** All files below a directory. */
export const filesIn = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));

export const bytesIn = (directory: string): Buffer =>
  Buffer.concat(filesIn(directory).map((file) => readFileSync(file)));

/**
 * The texts that the bytes contain, in clear or in base64 at any offset. For long texts only: a few letters
 * occur by chance in a megabyte of ciphertext.
 */
export const shownIn = (bytes: Buffer, texts: readonly string[]): string[] =>
  texts.filter((text) => {
    const encoded = [0, 1, 2].map((shift) =>
      Buffer.from(' '.repeat(shift) + text)
        .toString('base64')
        .slice(shift + 1, -4),
    );
    return [text, ...encoded].some((form) => bytes.includes(form));
  });
