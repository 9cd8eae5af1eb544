/** Benchmarks `annals replay` beside the driver alone on the same events: processor time per event, and events per second. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { EventStoreDBClient, streamNameFilter } from '@eventstore/db-client';
import { ANNALS } from '../support/server-process.js';
import { load, makeRooms, posts } from './load.js';
import { startUsual } from './started.js';

/** `quick` replays 5,000 messages instead of 50,000. */
export async function bench(print: (line: string) => void, { quick = false }: { quick?: boolean }): Promise<void> {
  const amount = quick ? 5000 : 50_000;
  const directory = temporaryDirectory();
  const server = await startUsual(directory.path, ['--rooms-create-per-hour', '1000000']);
  try {
    const base = server.urls.rooms ?? '';
    await load(base, { amount }, posts(await makeRooms(base, Math.ceil(amount / 39))));
    const alone = await driverAlone(directory.path);
    print(`ceiling: the driver alone, one subscription that looks at nothing: ${format(alone)}`);
    const nothing = await replayed(directory.path, 'logs');
    const all = await replayed(directory.path, 'rooms');
    // Subtracts what starting the command costs.
    const net = { events: all.events, ms: all.ms - nothing.ms, seconds: all.seconds - nothing.seconds };
    print(`annals replay, opened, as NDJSON: ${format(net)}`);
  } finally {
    await server.stop();
    directory.remove();
  }
}

interface Cost {
  readonly events: number;
  /** Processor milliseconds. */
  readonly ms: number;
  readonly seconds: number;
}

const format = ({ events, ms, seconds }: Cost) =>
  `${Math.round(events / seconds).toLocaleString('en')} events/s, ${((1000 * ms) / events).toFixed(0)} us of processor an event`;

async function driverAlone(dataDir: string): Promise<Cost> {
  const { eventStoreUrl } = JSON.parse(readFileSync(join(dataDir, 'runtime.json'), 'utf8'));
  const client = EventStoreDBClient.connectionString(eventStoreUrl);
  const started = performance.now();
  const before = process.cpuUsage();
  let events = 0;
  const filter = streamNameFilter({ prefixes: ['rooms.'], checkpointInterval: 32 });
  const subscription = client.subscribeToAll({ filter }, { highWaterMark: 1000 });
  subscription.on('data', () => events++);
  await once(subscription, 'caughtUp');
  const { user, system } = process.cpuUsage(before);
  const seconds = (performance.now() - started) / 1000;
  await client.dispose();
  return { events, ms: (user + system) / 1000, seconds };
}

/** Replays a service; the output is counted in lines and discarded. */
async function replayed(dataDir: string, service: string): Promise<Cost> {
  const args = [ANNALS, 'replay', '--data-dir', dataDir, '--service', service, '--format', 'ndjson'];
  const started = performance.now();
  const child = spawn('sh', ['-c', '"$0" "$@" | wc -l; times', process.execPath, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  await once(child, 'close');
  const [lines = '', , children = ''] = output.trim().split('\n');
  return { events: Number(lines), ms: processorOf(children), seconds: (performance.now() - started) / 1000 };
}

/** Milliseconds in a line of the shell's `times`, such as "0m1.25s 0m0.10s": user plus system. */
const processorOf = (times: string): number =>
  times
    .split(' ')
    .map((each) => /^(\d+)m([\d.]+)s$/.exec(each) ?? [])
    .reduce((sum, [, minutes = 0, seconds = 0]) => sum + 60_000 * Number(minutes) + 1000 * Number(seconds), 0);

if (process.argv[1]?.endsWith('replay.js')) await bench(console.log, { quick: process.argv.includes('--quick') });
