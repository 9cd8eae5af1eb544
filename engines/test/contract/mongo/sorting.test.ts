/** Tests sorts in memory: all sorts in progress share one memory budget, and each one releases its part. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import type { Collection, Document } from 'mongodb';
import { eventually } from '../../support/condition.js';
import { isReal } from '../../support/mongo.js';
import { codeOf, fixture } from '../../support/mongo-fixture.js';

describe('MongoDB: sorts in memory', () => {
  if (isReal) return;
  const mongo = fixture({ ownProcess: true });
  const MEGABYTES = 1024 * 1024;
  /** 80 MB: the shared budget holds three sorts of this size. */
  let rows: Collection<Document>;
  before(async () => {
    rows = mongo.collection();
    for (let n = 0; n < 8; n++) await rows.insertOne({ k: -n, text: Buffer.alloc(10 * MEGABYTES) });
  });
  /** Sorts whole documents, but returns only a small part of each. */
  const find = () => rows.find().project({ k: 1 }).sort({ k: 1 });

  it('are refused beyond the shared budget until others end in any way', async function () {
    this.timeout(60_000);
    const begin = async () => {
      const cursor = find().batchSize(1);
      await cursor.next();
      return cursor;
    };
    const [one, two, three] = [await begin(), await begin(), await begin()];
    expect(await codeOf(begin())).to.equal(146);
    expect(await codeOf(begin())).to.equal(146);
    await one.close();
    const four = await begin();
    expect(await codeOf(begin())).to.equal(146);
    await two.toArray();
    const five = await begin();
    for (const each of [three, four, five]) await each.close();
    const all = await find().limit(3).toArray();
    expect(all.map(({ k }) => k)).to.deep.equal([-7, -6, -5]);
    for (let n = 0; n < 4; n++) expect(await find().toArray()).to.have.length(8);
  });

  it('release their memory immediately when their client is killed', async function () {
    this.timeout(60_000);
    const script = `
      import { MongoClient } from 'mongodb';
      const [url, db, name] = process.argv.slice(1);
      const rows = new MongoClient(url).db(db).collection(name);
      for (let n = 0; n < 3; n++) await rows.find().sort({ k: 1 }).batchSize(1).next();
      console.log('held');
      setInterval(() => {}, 1000);`;
    const args = [mongo.server.url, mongo.db.databaseName, rows.collectionName];
    const stdio = ['ignore', 'pipe', 'inherit'] as const;
    const client = spawn(process.execPath, ['--input-type=module', '-e', script, ...args], {
      stdio: [...stdio],
    });
    const sorted = () => codeOf(find().toArray());
    try {
      await once(client.stdout!, 'data');
      expect(await sorted()).to.equal(146);
    } finally {
      client.kill('SIGKILL');
    }
    await eventually(async () => (await sorted()) === 'accepted');
  });
});
