/** Benchmarks analytics over HTTP with the whole program: single hits, batches, reports and a rebuild. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { processorMs, watchMemory } from '@annals/engines/testing/process-usage.js';
import { run, type Server } from '../support/server-process.js';
import { asAdmin, HIT_FLAGS, hits, makeSite, reportPath } from './hits.js';
import { load, type Request } from './load.js';
import { startUsual } from './started.js';

type Print = (line: string) => void;

export interface AnalyticsBench {
  /** Runs a tenth of the hits, and each load for 2 s instead of 8. */
  readonly quick?: boolean;
  /** Hits stored before the monthly report is measured. */
  readonly hits?: number;
}

const CONNECTIONS = 64;
const BATCH = 100;
/** Requests sent before measuring, so that the code is compiled. */
const WARM = 5000;
/** Approximate number of hits that `annals analytics seed` creates for 30 days. */
const SEEDED = 30 * 1600;

/** Prints one line for each figure, with its target in parentheses. */
export async function bench(print: Print, options: AnalyticsBench): Promise<void> {
  const { quick = false, hits: stored = quick ? 100_000 : 1_000_000 } = options;
  const duration = quick ? 2 : 8;
  const ceilings = {
    single: await ceiling(1, duration, print),
    batch: await ceiling(BATCH, duration, print),
  };
  const directory = temporaryDirectory();
  const server = await startUsual(directory.path, ['analytics', ...HIT_FLAGS]);
  const memory = watchMemory(server);
  try {
    const base = server.urls.analytics ?? '';
    await makeSite(base);
    await load(base, { amount: WARM, connections: CONNECTIONS }, hits(1));
    const lag = watchLag(base);
    const single = await measure(server, 1, duration);
    print(`hits alone: ${single.text} (5000, p99 60); ${ratio(single, ceilings.single)}`);
    print(`until a report shows what was taken: ${await lag.stop()} (1000)`);
    await load(base, { amount: WARM / 50, connections: CONNECTIONS }, hits(BATCH));
    const empty = bytesOf(directory.path);
    const batch = await measure(server, BATCH, duration);
    print(`hits in batches of ${BATCH}: ${batch.text} (40000); ${ratio(batch, ceilings.batch)}`);
    await reports(base, 1, print);
    const perMillion = (bytesOf(directory.path) - empty) / batch.hits;
    print(`disk: ${perMillion.toFixed(0)} MB a million hits (150)`);

    const scale = Math.ceil(stored / SEEDED);
    await seed(directory.path, ['--days', '30', '--scale', String(scale)], print);
    await reports(base, 30, print, 15);
    const before = performance.now();
    const { code, stdout } = await run(['reindex', 'analytics.days', '--data-dir', directory.path]);
    const seconds = (performance.now() - before) / 1000;
    if (code !== 0) throw new Error(`the rebuild ended with ${code}`);
    const all = batch.hits + single.hits + WARM * 3 + scale * SEEDED;
    print(`rebuild of about ${all} hits: ${Math.round(all / seconds)} hits/s (100000); ${stdout.trim()}`);
    await seed(directory.path, ['--replace', '--scale', '3'], print);
    await reports(base, 365, print, 60);
    print(`memory at most ${memory.peak()} MB, engines ${memory.engines()} MB`);
  } finally {
    memory.stop();
    await server.stop();
    directory.remove();
  }
}

interface Measured {
  readonly hits: number;
  readonly text: string;
  /** Processor microseconds per request. */
  readonly us: number;
}

async function measure(server: Server, size: number, duration: number): Promise<Measured> {
  const pids = [server.child.pid ?? 0, server.pids.eventstore ?? 0, server.pids.mongo ?? 0];
  const used = () => pids.map(processorMs);
  const before = used();
  const url = server.urls.analytics ?? '';
  const { done, bad, perSecond, p99 } = await load(url, { duration, connections: CONNECTIONS }, hits(size));
  if (bad > 0) throw new Error(`${bad} requests failed`);
  const us = used().map((after, index) => (1000 * (after - before[index]!)) / done);
  const each = us.map((of) => (of / size).toFixed(size > 1 ? 1 : 0)).join(' + ');
  return {
    hits: done * size,
    us: us[0]!,
    text: `${perSecond * size}/s, p99 ${p99} ms, processor ${each} us a hit (server, event store, mongo)`,
  };
}

/** Upper bound: plain koa that reads the same bodies and ignores them. */
async function ceiling(size: number, duration: number, print: Print): Promise<number> {
  const koa = fork(fileURLToPath(new URL('./plain-koa.js', import.meta.url)));
  const [port] = (await once(koa, 'message')) as [number];
  const next = hits(size);
  const asJson = (): Request => {
    const request = next();
    return { ...request, path: '/', headers: { ...request.headers, 'content-type': 'application/json' } };
  };
  try {
    const url = `http://127.0.0.1:${port}`;
    await load(url, { amount: Math.max(CONNECTIONS, WARM / size), connections: CONNECTIONS }, asJson);
    const before = processorMs(koa.pid ?? 0);
    const { done, perSecond } = await load(url, { duration, connections: CONNECTIONS }, asJson);
    const us = (1000 * (processorMs(koa.pid ?? 0) - before)) / done;
    print(`ceiling: plain koa, ${size} a request: ${perSecond * size}/s, processor ${us.toFixed(0)} us a request`);
    return us;
  } finally {
    koa.kill();
  }
}

const ratio = ({ us }: Measured, ceiling: number) =>
  `a request costs ${(us / ceiling).toFixed(1)} times what plain koa does`;

/** Measures how long a report waits until it includes all hits accepted before the request. */
function watchLag(base: string) {
  const times: number[] = [];
  let stopped = false;
  const watching = (async () => {
    while (!stopped) {
      times.push((await report(base, reportPath(1))).ms);
      await delay(200);
    }
  })();
  return {
    async stop() {
      stopped = true;
      await watching;
      return spread(times);
    },
  };
}

async function report(base: string, path: string): Promise<{ readonly ms: number }> {
  const started = performance.now();
  const answer = await fetch(base + path, { headers: asAdmin });
  await answer.text();
  if (answer.status !== 200) throw new Error(`a report was answered ${answer.status}`);
  if (answer.headers.has('consistency')) throw new Error('a report did not show all in time');
  return { ms: performance.now() - started };
}

async function reports(base: string, days: number, print: Print, targetMs?: number) {
  const path = days === 1 ? reportPath(1) : `/api/report?site=demo-shop&days=${days}`;
  const { ms: first } = await report(base, path);
  const times: number[] = [];
  for (let index = 0; index < 40; index++) times.push((await report(base, path)).ms);
  const target = targetMs === undefined ? '' : ` (${targetMs})`;
  print(`report of ${days} days: first ${first.toFixed(0)} ms, ${spread(times)}${target}`);
}

function spread(times: number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)]?.toFixed(1);
  return `p50 ${at(0.5)} ms, p95 ${at(0.95)}, max ${sorted.at(-1)?.toFixed(0)}`;
}

async function seed(dataDir: string, more: readonly string[], print: Print) {
  const started = performance.now();
  const { code, stdout, stderr } = await run(['analytics', 'seed', ...more, '--data-dir', dataDir]);
  if (code !== 0) throw new Error(`the seed ended with ${code}: ${stderr}`);
  print(`seed: ${stdout.trim()}, ${((performance.now() - started) / 1000).toFixed(1)} s`);
}

/** Bytes allocated on disk; sparse files count only what is written. */
function bytesOf(path: string): number {
  const entries = readdirSync(path, { withFileTypes: true, recursive: true });
  return entries
    .filter((each) => each.isFile())
    .map((each) => statSync(join(each.parentPath, each.name)).blocks * 512)
    .reduce((sum, each) => sum + each, 0);
}
