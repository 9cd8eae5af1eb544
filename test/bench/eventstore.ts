/** Benchmarks the embedded event store in its own process, through the real driver, beside its upper bounds. */
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { type ClientHttp2Session, connect } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { append, createRecentIds, JSON_TYPE } from '@annals/engines/internal/eventstore/log/append.js';
import { openEventLog } from '@annals/engines/internal/eventstore/log/event-log.js';
import { ANY } from '@annals/engines/internal/eventstore/log/expected.js';
import { toGrpcError } from '@annals/engines/internal/eventstore/wire/failures.js';
import { frame } from '@annals/engines/internal/eventstore/wire/framing.js';
import { type Handler, serveGrpc } from '@annals/engines/internal/eventstore/wire/grpc.js';
import { parseUuid } from '@annals/engines/internal/eventstore/wire/uuid.js';
import { embeddedEventStore } from '@annals/engines/testing/eventstore.js';
import { END, EventStoreDBClient, jsonEvent, NO_STREAM, streamNameFilter } from '@eventstore/db-client';
import { open } from 'lmdb';

type Print = (line: string) => void;

/** Runs every measurement and prints one line for each; `quick` takes seconds instead of a minute. */
export async function bench(print: Print, options: { quick?: boolean } = {}): Promise<void> {
  const seconds = options.quick ? 1 : 4;
  print('event store: appends of one event of about 360 bytes, flush on, engine in a process of its own');
  print(`ceiling  one lmdb commit with its flush, one after the other: ${rate(await flushes(seconds))}/s`);
  for (const callers of [1, 32, 256]) {
    print(`ceiling  bare echo through the same framing, ${callers} at once: ${rate(await echoes(callers, seconds))}/s`);
  }

  const server = await embeddedEventStore(await temporaryDirectory());
  const client = EventStoreDBClient.connectionString(server.url);
  try {
    print(`memory   at rest, before anything: ${await anonymousMemory(server.embedded.pid)} MB RssAnon`);
    for (const writers of [1, 32, 256]) {
      const { perSecond, p50, p99 } = await appends(client, writers, seconds);
      print(`append   ${writers} at once: ${rate(perSecond)}/s, p50 ${ms(p50)}, p99 ${ms(p99)}`);
    }
    const stream = await fillStream(client, options.quick ? 10_000 : 50_000);
    print(`read     a stream: ${rate(await reads(client, stream))} events/s`);
    print(`catch up by category: ${rate(await catchUp(client, stream))} events/s`);
    for (const perSecond of [100, 1000]) {
      const { p50, p99 } = await latency(client, perSecond, seconds);
      print(`latency  append to subscriber at ${perSecond}/s: p50 ${ms(p50)}, p99 ${ms(p99)}`);
    }
    await after(1000);
    print(`memory   at rest, after all this: ${await anonymousMemory(server.embedded.pid)} MB RssAnon`);
  } finally {
    await client.dispose();
    await server.stop();
  }
  const events = options.quick ? 100_000 : 1_000_000;
  print(`start    with ${events.toLocaleString('en')} events: ${ms(await startWith(events))}`);
}

const rate = (perSecond: number): string => Math.round(perSecond).toLocaleString('en');
const ms = (value: number): string => `${value.toFixed(value < 10 ? 2 : 0)} ms`;
const temporaryDirectory = (): Promise<string> => mkdtemp(join(tmpdir(), 'annals-bench-'));

function quantiles(values: number[]): { p50: number; p99: number } {
  const sorted = Float64Array.from(values).sort();
  return { p50: sorted[Math.floor(sorted.length * 0.5)]!, p99: sorted[Math.floor(sorted.length * 0.99)]! };
}

/** Runs `work` repeatedly in `loops` concurrent loops; resolves with the rate per second, after a warm-up. */
async function inLoops(loops: number, seconds: number, work: (loop: number) => Promise<unknown>): Promise<number> {
  let done = 0;
  let running = true;
  const all = Array.from({ length: loops }, async (_, loop) => {
    while (running) {
      await work(loop);
      done++;
    }
  });
  await after(seconds * 200);
  const started = performance.now();
  const before = done;
  await after(seconds * 1000);
  const perSecond = ((done - before) / (performance.now() - started)) * 1000;
  running = false;
  await Promise.all(all);
  return perSecond;
}

async function flushes(seconds: number): Promise<number> {
  const directory = await temporaryDirectory();
  const environment = open({ path: directory, encoding: 'binary', overlappingSync: false, cache: false });
  const value = Buffer.alloc(500);
  let key = 0;
  const perSecond = await inLoops(1, seconds, async () => {
    await environment.batch(() => environment.put(key++, value));
    await environment.flushed;
  });
  await environment.close();
  await rm(directory, { recursive: true });
  return perSecond;
}

const ECHO = '/echo.Echo/Echo';
const ECHO_BYTES = 500;

async function echoes(callers: number, seconds: number): Promise<number> {
  const { url, stop } = await echoServer();
  const session = connect(url);
  const call = echoCall(session);
  const message = frame([Buffer.alloc(ECHO_BYTES)]);
  const perSecond = await inLoops(callers, seconds, () => call(message));
  session.destroy();
  await stop();
  return perSecond;
}

/** One bidirectional call; answers arrive in the order of the messages. */
function echoCall(session: ClientHttp2Session): (message: Buffer) => Promise<void> {
  const stream = session.request({ ':method': 'POST', ':path': ECHO, 'content-type': 'application/grpc' });
  const waiting: (() => void)[] = [];
  let received = 0;
  stream.on('data', (chunk: Buffer) => {
    received += chunk.length;
    for (; received >= ECHO_BYTES + 5; received -= ECHO_BYTES + 5) waiting.shift()?.();
  });
  return (message) =>
    new Promise((resolve) => {
      waiting.push(resolve);
      stream.write(message);
    });
}

async function echoServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const child = fork(fileURLToPath(import.meta.url), ['echo']);
  const port = await new Promise((resolve) => child.once('message', resolve));
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      child.kill();
      await new Promise((resolve) => child.once('exit', resolve));
    },
  };
}

async function serveEcho(): Promise<void> {
  const echo: Handler = (call) => call.receive(call.sendSoon, call.end);
  const server = await serveGrpc(0, new Map([[ECHO, echo]]), toGrpcError);
  process.send?.(server.port);
}

const event = (n: number) =>
  jsonEvent({
    type: 'OrderPlaced',
    data: {
      order: `o-${n}`,
      customer: `customer-${n % 977}`,
      lines: [{ sku: 'sku-1', quantity: 2 }],
      note: 'x'.repeat(240),
    },
    metadata: { $correlationId: `c-${n}`, actor: 'u1' },
  });

async function appends(client: EventStoreDBClient, writers: number, seconds: number) {
  const streams = Array.from({ length: writers }, () => `bench.order-${randomUUID()}`);
  const revisions = new Map<string, bigint | typeof NO_STREAM>();
  const latencies: number[] = [];
  const perSecond = await inLoops(writers, seconds, async (writer) => {
    const stream = streams[writer]!;
    const started = performance.now();
    const expectedRevision = revisions.get(stream) ?? NO_STREAM;
    const { nextExpectedRevision } = await client.appendToStream(stream, event(latencies.length), {
      expectedRevision,
    });
    revisions.set(stream, nextExpectedRevision);
    latencies.push(performance.now() - started);
  });
  return { perSecond, ...quantiles(latencies) };
}

async function fillStream(client: EventStoreDBClient, events: number): Promise<string> {
  const stream = `filled.stream-${randomUUID()}`;
  for (let n = 0; n < events; n += 500) {
    await client.appendToStream(
      stream,
      Array.from({ length: 500 }, (_, i) => event(n + i)),
    );
  }
  return stream;
}

async function reads(client: EventStoreDBClient, stream: string): Promise<number> {
  const started = performance.now();
  let events = 0;
  for await (const _ of client.readStream(stream)) events++;
  return (events / (performance.now() - started)) * 1000;
}

async function catchUp(client: EventStoreDBClient, stream: string): Promise<number> {
  const prefixes = [stream.slice(0, stream.indexOf('.') + 1)];
  const subscription = client.subscribeToAll({
    filter: streamNameFilter({ prefixes, checkpointInterval: 100 }),
  });
  const started = performance.now();
  let events = 0;
  subscription.on('data', () => events++);
  await new Promise((resolve) => subscription.once('caughtUp', resolve));
  const elapsed = performance.now() - started;
  await subscription.unsubscribe();
  return (events / elapsed) * 1000;
}

async function latency(client: EventStoreDBClient, perSecond: number, seconds: number) {
  const prefix = `latency.${randomUUID()}-`;
  const sent = new Map<string, number>();
  const latencies: number[] = [];
  const subscription = client.subscribeToAll({
    fromPosition: END,
    filter: streamNameFilter({ prefixes: [prefix] }),
  });
  subscription.on('data', ({ event: received }) => {
    const started = received && sent.get(received.id);
    if (started !== undefined) latencies.push(performance.now() - started);
  });
  await new Promise((resolve) => subscription.once('caughtUp', resolve));
  const total = perSecond * seconds;
  const started = performance.now();
  const pending: Promise<unknown>[] = [];
  while (pending.length < total) {
    const due = Math.min(total, ((performance.now() - started) * perSecond) / 1000);
    while (pending.length < due) {
      const next = event(pending.length);
      sent.set(next.id, performance.now());
      pending.push(client.appendToStream(`${prefix}${pending.length % 50}`, next));
    }
    await after(1);
  }
  await Promise.all(pending);
  while (latencies.length < total) await after(5);
  await subscription.unsubscribe();
  return quantiles(latencies);
}

/** Milliseconds from opening a store with this many events until it serves. */
async function startWith(events: number): Promise<number> {
  const directory = await temporaryDirectory();
  const log = openEventLog(directory, (error) => {
    throw error;
  });
  const recent = createRecentIds();
  const data = Buffer.from(JSON.stringify(event(1).data));
  const type = Buffer.from('OrderPlaced');
  const metadata = Buffer.from('{"$correlationId":"c-1"}');
  const CHUNK = 1000;
  for (let n = 0; n < events; n += CHUNK) {
    const chunk = Array.from({ length: CHUNK }, () => {
      return { id: parseUuid(randomUUID()), type, contentType: JSON_TYPE, metadata, data };
    });
    const request = { stream: `bench.order-${n / CHUNK}`, expected: ANY, events: chunk, size: 0 };
    await log.submit((now) => append(log, recent, request, now));
  }
  await log.close();
  const server = await embeddedEventStore(directory);
  const { startedIn } = server.embedded;
  await server.stop();
  return startedIn;
}

async function anonymousMemory(pid: number): Promise<string> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kilobytes = /RssAnon:\s+(\d+)/.exec(status)?.[1];
  return kilobytes ? (Number(kilobytes) / 1024).toFixed(0) : '?';
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv[2] === 'echo') await serveEcho();
  else await bench(console.log, { quick: process.argv.includes('--quick') });
}
