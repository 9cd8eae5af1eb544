/** Benchmarks uploads of the largest files that the chat accepts: memory, processor time and event loop delay. */
import { readFileSync } from 'node:fs';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { pdf } from '../support/chat-scenario.js';
import { ask, devLogin } from '../support/http-spec.js';
import type { Server } from '../support/server-process.js';
import { startUsual } from './started.js';

const MEBIBYTE = 1024 * 1024;

/** Peak resident memory of a process in MB. */
const peak = (pid: number): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

/** User and system time in ms. */
function processor(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [user = 0, system = 0] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 14).map(Number);
  return (user + system) * 10;
}

/** Longest event loop delay since the previous call, in ms. */
async function longestDelay(server: Server): Promise<number> {
  const metrics = await (await fetch(`${server.urls.operations}/metrics`)).text();
  return Number(/^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(metrics)?.[1]) * 1000;
}

/** `quick` uploads fewer files. */
export async function bench(print: (line: string) => void, { quick = false }: { quick?: boolean }): Promise<void> {
  const directory = temporaryDirectory();
  const server = await startUsual(directory.path, ['--log-level', 'info']);
  const pid = server.child.pid ?? 0;
  try {
    const base = server.urls.chat ?? '';
    const { token } = await devLogin(base, 'admin@localhost');
    const body = JSON.stringify({ filename: 'x.pdf', file: pdf(25 * MEBIBYTE).toString('base64') });
    const upload = async () => {
      const { status } = await ask(base, 'POST', '/files', { token, body });
      if (status !== 200) throw new Error(`refused: ${status}`);
    };
    await upload();
    await longestDelay(server);
    await new Promise((resolve) => setTimeout(resolve, 3000));
    print(
      `at rest: longest event loop delay ${(await longestDelay(server)).toFixed(1)} ms, peak ${peak(pid).toFixed(0)} MB`,
    );
    for (const [concurrency, rounds] of [
      [1, quick ? 3 : 10],
      [10, quick ? 1 : 4],
    ] as const) {
      const before = { peak: peak(pid), ms: processor(pid) };
      for (let round = 0; round < rounds; round++) await Promise.all(Array.from({ length: concurrency }, upload));
      const each = (processor(pid) - before.ms) / (concurrency * rounds);
      const growth = peak(pid) - before.peak;
      print(
        `25 MiB, ${concurrency} at once: longest event loop delay ${(await longestDelay(server)).toFixed(1)} ms, peak +${growth.toFixed(0)} MB, processor ${each.toFixed(0)} ms each`,
      );
    }
  } finally {
    await server.stop();
    directory.remove();
  }
}
