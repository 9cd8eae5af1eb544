/** Engines on a full disk: refused writes leave nothing behind, and acknowledged data stays readable. */
import { execFileSync, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DiskFull, watchDiskSpace } from '@annals/engines/internal/supervisor/disk-space.js';
import { eventually } from '@annals/engines/testing/condition.js';
import { embeddedEventStore } from '@annals/engines/testing/eventstore.js';
import { numbersOf } from '@annals/engines/testing/eventstore-client.js';
import { isReal, mongoServer } from '@annals/engines/testing/mongo.js';
import { codeOf } from '@annals/engines/testing/mongo-fixture.js';
import { ANY, jsonEvent } from '@eventstore/db-client';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { connectEventStore } from '../../adapters/eventstore/client.js';
import { StoreFullError } from '../../application/ports/errors.js';

const canLimit = spawnSync('prlimit', ['--version']).status === 0;
const limit = (pid: number | undefined, most: number | 'unlimited') =>
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${most}:`], { stdio: 'ignore' });

const pad = 'x'.repeat(100_000);

(canLimit && !isReal && !process.env.EVENTSTORE_URL ? describe : describe.skip)('a full disk', function () {
  this.timeout(60_000);

  it('makes the event store refuse an append and accept the same one once there is space', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'annals-full-'));
    const server = await embeddedEventStore(directory);
    const client = connectEventStore(server.url);
    try {
      const stream = `first.${randomUUID()}`;
      const append = (name: string, event: ReturnType<typeof jsonEvent>) =>
        client.appendToStream(name, event, { expectedRevision: ANY });
      await append(stream, jsonEvent({ type: 'T', data: { n: 0 } }));
      limit(server.embedded.pid, statSync(join(directory, 'log/data.mdb')).size);
      const [old, fresh] = [1, 2].map((n) => jsonEvent({ type: 'T', data: { n, pad } }));
      const other = `second.${randomUUID()}`;
      expect(await append(stream, old!).catch((error) => error)).to.be.instanceOf(StoreFullError);
      expect(await append(other, fresh!).catch((error) => error)).to.be.instanceOf(StoreFullError);
      expect(await numbersOf(client.readStream(stream))).to.deep.equal([0]);

      limit(server.embedded.pid, 'unlimited');
      await eventually(() =>
        append(stream, old!).then(
          () => true,
          () => false,
        ),
      );
      await append(other, fresh!);
      for (const restart of [false, true]) {
        if (restart) await server.embedded.restart('SIGKILL');
        await eventually(async () => (await numbersOf(client.readStream(stream))).length === 2);
        expect(await numbersOf(client.readStream(stream))).to.deep.equal([0, 1]);
        expect(await numbersOf(client.readStream(other))).to.deep.equal([2]);
      }
    } finally {
      await client.dispose();
      await server.stop();
    }
  });

  it('makes MongoDB refuse writes and forget their effects', async () => {
    const server = await mongoServer({ ownProcess: true });
    const client = new MongoClient(server.url);
    try {
      const rows = client.db('test').collection<{ _id: number; a: unknown; pad?: string }>('rows');
      await rows.createIndex({ a: 1 });
      await rows.insertOne({ _id: 1, a: 1 });
      limit(server.pid, statSync(join(server.directory!, 'data.mdb')).size);
      // Would make the index multi-valued.
      expect(await codeOf(rows.insertOne({ _id: 2, a: [2, 3], pad }))).to.equal(14031);
      expect(await codeOf(rows.deleteOne({ _id: 1 }))).to.equal(14031);
      const many = Array.from({ length: 3 }, (_, n) => ({ insertOne: { document: { _id: n + 5, a: n } } }));
      expect(await codeOf(rows.bulkWrite(many))).to.equal(14031);
      expect(await rows.find().toArray()).to.deep.equal([{ _id: 1, a: 1 }]);
      expect(await rows.countDocuments()).to.equal(1);

      limit(server.pid, 'unlimited');
      await eventually(async () => (await codeOf(rows.insertOne({ _id: 2, a: [2, 3], pad }))) === 'accepted');
      for (const restart of [false, true]) {
        if (restart) await server.restart('SIGKILL');
        expect(await rows.estimatedDocumentCount()).to.equal(2);
        expect(await rows.find({ a: { $gte: 2 } }).toArray()).to.have.length(1);
        expect(await rows.find({ a: 3 }).toArray()).to.have.length(1);
      }
    } finally {
      await client.close();
      await server.stop();
    }
  });
});

describe('disk space of a store', () => {
  const MEGABYTE = 1 << 20;

  it('suffices at the reserve, then at a quarter more, with one log line per change', () => {
    let free = 65;
    const lines: string[] = [];
    const space = watchDiskSpace('/store/data.mdb', (line) => lines.push(line), {
      statfs: () => ({ bsize: MEGABYTE, blocks: 100_000, bavail: free }),
    });
    const isTaken = (megabytes: number) => {
      free = megabytes;
      try {
        space.check();
        return true;
      } catch (error) {
        expect(error).to.be.instanceOf(DiskFull);
        return false;
      }
    };
    expect([64, 63, 64, 79, 80, 64].map(isTaken)).to.deep.equal([true, false, false, false, true, true]);
    expect(lines).to.have.length(2);
    expect(lines[0]).to.contain('/store is full');
    expect(lines[1]).to.contain('/store has room again');
  });

  it('has a reserve of a twentieth on a small disk', () => {
    const space = watchDiskSpace('/store/data.mdb', () => {}, {
      statfs: () => ({ bsize: MEGABYTE, blocks: 100, bavail: 5 }),
    });
    space.check();
  });
});
