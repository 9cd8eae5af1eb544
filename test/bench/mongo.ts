/** Benchmarks the embedded MongoDB through the real driver, beside the upper bounds of the disk and the driver. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { mongoServer } from '@annals/engines/testing/mongo.js';
import { open } from 'lmdb';
import { type Collection, MongoClient } from 'mongodb';

interface Row {
  readonly _id: string;
  readonly email?: string;
  readonly tenant?: string;
  readonly created?: Date;
  readonly status?: string;
  readonly amount?: number;
  readonly lines?: readonly { sku: string; qty: number }[];
  readonly note?: string;
  readonly v?: number;
}

const CLIENTS = 32;

/** About 440 bytes, with two secondary indexes. */
const row = (i: number): Row => ({
  _id: `doc-${i}`,
  email: `user${i}@example.com`,
  tenant: `t${i % 100}`,
  created: new Date(1.7e12 + i * 1000),
  status: ['new', 'open', 'done'][i % 3]!,
  amount: i % 1000,
  lines: [
    { sku: 'a', qty: 1 },
    { sku: 'b', qty: 2 },
  ],
  note: 'x'.repeat(200),
  v: 1,
});

/** Processor microseconds that a process has used so far; 0 where unknown. */
async function processorTime(pid: number | undefined): Promise<number> {
  const stat = pid === undefined ? '' : await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return user && system ? (Number(user) + Number(system)) * 10_000 : 0;
}

/** Runs `work` in `clients` concurrent loops after a warm-up: operations per second, p50, p99 and the processor time per operation of process `pid`. */
async function rate(
  clients: number,
  milliseconds: number,
  work: () => Promise<unknown>,
  pid?: number,
): Promise<string> {
  let latencies: number[] = [];
  const run = async (duration: number): Promise<number> => {
    latencies = [];
    const from = performance.now();
    const client = async (): Promise<void> => {
      while (performance.now() < from + duration) {
        const start = performance.now();
        await work();
        latencies.push(performance.now() - start);
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
    return (performance.now() - from) / 1000;
  };
  await run(milliseconds / 4);
  const before = await processorTime(pid);
  const seconds = await run(milliseconds);
  const cost = ((await processorTime(pid)) - before) / latencies.length;
  latencies.sort((a, b) => a - b);
  const at = (quantile: number) => latencies[Math.floor((latencies.length - 1) * quantile)]!.toFixed(2);
  const figures = `${(latencies.length / seconds).toFixed(0).padStart(7)}/s   p50 ${at(0.5)} ms   p99 ${at(0.99)} ms`;
  return cost > 0 ? `${figures}   ${cost.toFixed(0)} us of the engine` : figures;
}

/** How often lmdb alone can flush one small write, sequentially. */
async function flushes(milliseconds: number): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'annals-flush-'));
  const env = open({ path: directory, encoding: 'binary', overlappingSync: false });
  const value = Buffer.alloc(440);
  let n = 0;
  try {
    return await rate(1, milliseconds, async () => {
      await env.transaction(() => env.put(n++ % 1000, value));
    });
  } finally {
    await env.close();
    await rm(directory, { recursive: true, force: true });
  }
}

async function memory(pid: number | undefined): Promise<string> {
  if (pid === undefined) return 'unknown';
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const anonymous = /RssAnon:\s+(\d+) kB/.exec(status)?.[1];
  return anonymous ? `${(Number(anonymous) / 1024).toFixed(0)} MB` : 'unknown';
}

async function bulks(collection: Collection<Row>, of: (i: number) => object): Promise<string> {
  const [batches, size] = [10, 1000];
  const from = performance.now();
  for (let batch = 0; batch < batches; batch++)
    await collection.bulkWrite(
      Array.from({ length: size }, (_, i) => ({
        updateOne: {
          filter: { _id: `up-${batch}-${i}` },
          update: { $set: of(batch * size + i), $inc: { v: 1 } },
          upsert: true,
        },
      })),
      { ordered: false },
    );
  const seconds = (performance.now() - from) / 1000;
  return `${((batches * size) / seconds).toFixed(0).padStart(7)} documents/s`;
}

/** Prints one line for each measurement; `quick` takes about ten seconds instead of a minute. */
export async function bench(print: (line: string) => void, options: { quick?: boolean } = {}): Promise<void> {
  const documents = options.quick ? 20_000 : 100_000;
  const duration = options.quick ? 500 : 3000;
  const server = await mongoServer({ ownProcess: true });
  const client = new MongoClient(server.url, { maxPoolSize: 64 });
  const measure = (clients: number, work: () => Promise<unknown>) => rate(clients, duration, work, server.pid);
  const report = (what: string, figures: string): void => print(`${what.padEnd(44)} ${figures}`);
  try {
    const database = client.db(`bench_${process.pid}`);
    const collection = database.collection<Row>('rows');
    report('at rest, memory of the engine', await memory(server.pid));
    report('ceiling: one lmdb flush after another', await flushes(duration));
    await database.command({ ping: 1 });
    report('ceiling: ping, 32 clients', await measure(CLIENTS, () => database.command({ ping: 1 })));
    await collection.createIndexes([{ key: { email: 1 }, unique: true }, { key: { tenant: 1, created: -1 } }]);
    const from = performance.now();
    for (let i = 0; i < documents; i += 1000)
      await collection.insertMany(Array.from({ length: 1000 }, (_, k) => row(i + k)));
    const loaded = documents / ((performance.now() - from) / 1000);
    report('insertMany of 1,000', `${loaded.toFixed(0).padStart(7)} documents/s`);
    const any = () => Math.floor(Math.random() * documents);
    const update = () => collection.updateOne({ _id: `doc-${any()}` }, { $set: { status: 'open' }, $inc: { v: 1 } });
    const find = () => collection.findOne({ _id: `doc-${any()}` });
    const page = () =>
      collection
        .find({ tenant: `t${any() % 100}` })
        .sort({ created: -1 })
        .limit(20)
        .toArray();
    let fresh = 1e7;
    for (const clients of [1, CLIENTS]) {
      const with_ = clients === 1 ? '1 client' : `${clients} clients`;
      report(`insertOne, ${with_}`, await measure(clients, () => collection.insertOne(row(fresh++))));
      report(`updateOne by _id, ${with_}`, await measure(clients, update));
      report(`findOne by _id, ${with_}`, await measure(clients, find));
      report(`find 20 by compound index and sort, ${with_}`, await measure(clients, page));
    }
    const lease = () => collection.findOneAndUpdate({ _id: `doc-${any()}` }, { $inc: { v: 1 } });
    report('findOneAndUpdate, 32 clients', await measure(CLIENTS, lease));
    const created = new Date();
    const full = (i: number) => ({ email: `up${i}@x`, tenant: 't1', created, note: 'x'.repeat(200) });
    report('bulkWrite of 1,000 upserts, new', await bulks(collection, full));
    report('bulkWrite of 1,000 upserts, existing', await bulks(collection, () => ({ status: 'seen' })));
    const scan = performance.now();
    const done = await collection.countDocuments({ status: 'done', amount: { $gt: 500 } });
    report('count without an index', `${(performance.now() - scan).toFixed(0)} ms for ${done} matches`);
    report('after all, memory of the engine', await memory(server.pid));
    await database.dropDatabase();
  } finally {
    await client.close();
    await server.stop();
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href)
  await bench(console.log, { quick: process.argv.includes('--quick') });
