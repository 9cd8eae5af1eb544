/** Benchmarks the log service over HTTP with the whole program: ingest, queries over a million records, a rebuild. */
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { watchMemory } from '@annals/engines/testing/process-usage.js';
import autocannon from 'autocannon';
import { type LogClient, logClient } from '../support/log-client.js';
import { startUsual } from './started.js';

const DAY = 86_400_000;
const PER_DAY = 100_000;
const LEVELS = ['info', 'debug', 'info', 'warn'];
const STATUS = [200, 201, 404, 302];

type Print = (line: string) => void;

/** A request log as a web service writes it; every 97th is an error, three records share a request id. */
function record(n: number, first: number) {
  return {
    timestamp: new Date(first + n * (DAY / PER_DAY)).toISOString(),
    level: n % 97 === 0 ? 'error' : LEVELS[n % 4],
    event: `http.${['request', 'response', 'timeout'][n % 3]}`,
    message: `request ${n} to /api/items/${n % 977} completed in ${n % 300} ms`,
    requestId: requestId(n),
    userId: `user-${n % 50_021}`,
    status: STATUS[n % 4],
    http: { method: 'GET', path: `/api/items/${n % 977}`, durationMs: n % 300 },
    host: 'web-3',
  };
}

const requestId = (n: number) => `req-${((Math.floor(n / 3) * 7919) % 1_000_003).toString(36)}`;

export const body = (from: number, size: number, first: number) =>
  Array.from({ length: size }, (_, n) => JSON.stringify(record(from + n, first))).join('\n');

/** Prints one line for each figure, with its target in parentheses. `quick`: a tenth of the records. */
export async function bench(print: Print, { quick }: { readonly quick: boolean }): Promise<void> {
  const directory = temporaryDirectory();
  const server = await startUsual(directory.path);
  const memory = watchMemory(server);
  try {
    const base = server.urls.logs ?? '';
    const client = logClient(base);
    const total = quick ? 100_000 : 1_000_000;
    const first = Math.floor(Date.now() / DAY) * DAY - (total / PER_DAY) * DAY;
    await ingest(client, print, { total, size: 1000, connections: 8, first, target: 30_000 });
    await queries(client, print, total, first);
    await newest(base, print);
    await reindex(client, print, total);
    const now = Date.now();
    await ingest(client, print, { total: total / 10, size: 100, connections: 16, first: now, target: 20_000 });
    await singles(base, print, now);
    print(`memory at most ${memory.peak()} MB (400), engines ${memory.engines()} MB`);
  } finally {
    memory.stop();
    await server.stop();
    directory.remove();
  }
}

interface Load {
  readonly total: number;
  readonly size: number;
  readonly connections: number;
  readonly first: number;
  /** Target in records per second. */
  readonly target: number;
}

async function ingest(client: LogClient, print: Print, { total, size, connections, first, target }: Load) {
  let next = 0;
  let ms = 0;
  // Bodies are created outside the measured time, in chunks.
  while (next < total) {
    const bodies: string[] = [];
    for (; bodies.length * size < 20_000 && next < total; next += size) bodies.push(body(next, size, first));
    const started = performance.now();
    await Promise.all(
      Array.from({ length: connections }, async () => {
        for (let each = bodies.pop(); each; each = bodies.pop()) {
          const { status } = await client.ask('POST', '/api/ingest', { body: each });
          if (status !== 200) throw new Error(`ingest was answered ${status}`);
        }
      }),
    );
    ms += performance.now() - started;
  }
  const per = Math.round((total / ms) * 1000);
  print(`ingest, batches of ${size}, ${connections} connections: ${per} records/s (${target})`);
}

async function singles(base: string, print: Print, first: number) {
  let n = 0;
  const result = await autocannon({
    url: base,
    connections: 32,
    duration: 8,
    requests: [
      {
        setupRequest: (request) => ({
          ...request,
          method: 'POST',
          path: '/api/ingest',
          body: body(n++, 1, first),
        }),
      },
    ],
  });
  print(`ingest, single records, 32 connections: ${perSecond(result)} records/s (3000)`);
}

async function queries(client: LogClient, print: Print, total: number, first: number) {
  const day = new Date(first + Math.floor(total / PER_DAY / 2) * DAY).toISOString().slice(0, 10);
  const ofDay = `from=${day}&to=${day}`;
  const some = (index: number) => (index * 7919) % total;
  const workloads: readonly (readonly [what: string, most: number, path: (index: number) => string])[] = [
    ['newest 100 errors', 10, () => '/api/logs?level=error'],
    ['newest 100', 10, () => '/api/logs'],
    ['a user over a day', 50, (index) => `/api/logs?${ofDay}&field=userId&value=user-${some(index) % 50_021}`],
    ['a correlation over all', 10, (index) => `/api/logs?correlation=${requestId(some(index))}`],
    ['two words over a day', 150, (index) => `/api/logs?${ofDay}&q=items+${index * 37}`],
    ['levels over all, counted', 200, () => '/api/logs/aggregate?groupBy=level'],
    ['events over all, counted', 200, () => '/api/logs/aggregate?groupBy=event'],
  ];
  for (const [what, most, path] of workloads) {
    const times: number[] = [];
    for (let index = 0; index < 60; index++) {
      const started = performance.now();
      const { status } = await client.ask('GET', path(index));
      if (status !== 200) throw new Error(`${what} was answered ${status}`);
      times.push(performance.now() - started);
    }
    const [firstTime] = times;
    times.sort((a, b) => a - b);
    const at = (share: number) => times[Math.floor(times.length * share)]!.toFixed(1);
    print(`${what}: first ${firstTime!.toFixed(1)} ms, p50 ${at(0.5)}, p95 ${at(0.95)} (${most})`);
  }
}

async function newest(base: string, print: Print) {
  const result = await autocannon({ url: `${base}/api/logs`, connections: 32, duration: 8 });
  print(`newest 100, 32 connections: ${perSecond(result)} pages/s (2500)`);
}

async function reindex(client: LogClient, print: Print, total: number) {
  let [building, queryCount] = [true, 0];
  let slowest = 0;
  const reader = (async () => {
    while (building) {
      const started = performance.now();
      const { status } = await client.ask('GET', '/api/logs?level=error');
      if (status !== 200) throw new Error(`a query during the rebuild was answered ${status}`);
      slowest = Math.max(slowest, performance.now() - started);
      queryCount++;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  const started = performance.now();
  const { status } = await client.ask('POST', '/api/reindex');
  const seconds = (performance.now() - started) / 1000;
  building = false;
  await reader;
  if (status !== 200) throw new Error(`the rebuild was answered ${status}`);
  const most = (60 * total) / 1_000_000;
  print(
    `reindex of ${total}: ${seconds.toFixed(1)} s (${most}), ${queryCount} queries meanwhile, slowest ${slowest.toFixed(0)} ms`,
  );
}

const perSecond = (result: autocannon.Result) => {
  const bad = result.non2xx + result.errors;
  return `${Math.round(result['2xx'] / result.duration)}${bad ? ` and ${bad} NOT 2xx` : ''}`;
};
