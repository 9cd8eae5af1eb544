/** Unauthenticated clients flood an engine without slowing its service to others. */
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { killOnExit } from '@annals/engines/testing/children.js';
import { embeddedEventStore } from '@annals/engines/testing/eventstore.js';
import { isReal, mongoServer } from '@annals/engines/testing/mongo.js';
import { jsonEvent, NO_STREAM } from '@eventstore/db-client';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { connectEventStore } from '../../adapters/eventstore/client.js';

const FLOOD = fileURLToPath(new URL('./flood-process.js', import.meta.url));

/** An engine in its own process, with an authenticated client. */
interface Served {
  readonly port: number;
  write(): Promise<unknown>;
  stop(): Promise<void>;
}

async function serveEventStore(): Promise<Served> {
  const server = await embeddedEventStore(mkdtempSync(join(tmpdir(), 'annals-flood-')));
  const client = connectEventStore(server.url);
  const event = () => jsonEvent({ type: 'T', data: {} });
  return {
    port: server.embedded.port,
    write: () => client.appendToStream(`t.s-${randomUUID()}`, event(), { expectedRevision: NO_STREAM }),
    stop: () => client.dispose().then(server.stop),
  };
}

async function serveMongo(): Promise<Served> {
  const server = await mongoServer({ ownProcess: true });
  const client = new MongoClient(server.url);
  const rows = client.db('test').collection('rows');
  return { port: server.port, write: () => rows.insertOne({}), stop: () => client.close().then(server.stop) };
}

const WRITERS = 16;
const MEASURED_MS = 1500;
/** Without limits it is 5 to 300. */
const MOST_TIMES_SLOWER = 3;
const MAX_ROUNDS = 8;

/** Writes per second of this many clients. */
async function writesPerSecond(served: Served): Promise<number> {
  const began = performance.now();
  let done = 0;
  const write = async () => {
    for (; performance.now() < began + MEASURED_MS; done++) await served.write();
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
  return Math.round((done * 1000) / (performance.now() - began));
}

/** Floods a port while `work` runs. */
async function flooded<T>(port: number, kind: string, work: () => Promise<T>): Promise<T> {
  const child = killOnExit(fork(FLOOD, [String(port), kind], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }));
  await once(child, 'message');
  try {
    return await work();
  } finally {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
}

function itWithstands(kind: string, serve: () => Promise<Served>): void {
  it(`continues under a flood by a stranger with ${kind}`, async function () {
    this.timeout(120_000);
    const [served, other] = [await serve(), await serve()];
    try {
      await writesPerSecond(served);
      // A flood also costs machine time: compare with a flood of the other engine. The first connections are accepted and cost most:
      // measure until they are used up.
      const rounds: string[] = [];
      for (let isFast = false; !isFast; ) {
        const calm = await flooded(other.port, kind, () => writesPerSecond(served));
        const attacked = await flooded(served.port, kind, () => writesPerSecond(served));
        isFast = attacked * MOST_TIMES_SLOWER > calm;
        rounds.push(`${attacked} writes a second instead of ${calm}`);
        if (!isFast) expect(rounds, rounds.join(', ')).to.have.length.below(MAX_ROUNDS);
      }
    } finally {
      await Promise.all([served.stop(), other.stop()]);
    }
  });
}

if (!process.env.EVENTSTORE_URL)
  describe('the embedded event store under floods', () => {
    itWithstands('rapid resets', serveEventStore);
    itWithstands('continuations', serveEventStore);
  });

if (!isReal)
  describe('the embedded MongoDB under floods', () => {
    itWithstands('greetings', serveMongo);
  });
