/** Tests that acknowledged writes survive a crash and that long commands do not block others. */
import { expect } from 'chai';
import { isReal, mongoServer } from '../../support/mongo.js';
import { fixture } from '../../support/mongo-fixture.js';
import { rawClient } from '../../support/raw-client.js';

/** Pings that a server answers which does nothing else meanwhile: one just before the work, one just after it. */
const AT_EITHER_END = 2;

describe('MongoDB: durability and fairness', () => {
  const mongo = fixture({ ownProcess: true });

  it('answers pings while a search without an index scans 50,000 documents', async function () {
    this.timeout(120_000);
    const rows = mongo.collection();
    for (let i = 0; i < 50; i++) await rows.insertMany(Array.from({ length: 1000 }, (_, k) => ({ a: i * 1000 + k })));
    let scanning = true;
    const scan = rows.countDocuments({ a: { $lt: 0 } }).finally(() => {
      scanning = false;
    });
    let pings = 0;
    while (scanning) {
      await mongo.db.command({ ping: 1 });
      pings++;
    }
    expect(await scan).to.equal(0);
    expect(pings).to.be.greaterThan(AT_EITHER_END);
  });

  it('deletes and updates many documents without an index while others are served', async function () {
    this.timeout(120_000);
    const rows = mongo.collection();
    for (let i = 0; i < 20; i++) await rows.insertMany(Array.from({ length: 1000 }, (_, k) => ({ a: k, i })));
    let pings = 0;
    let working = true;
    const work = rows
      .updateMany({ a: { $gte: 0 } }, { $inc: { a: 1 } })
      .then(async ({ modifiedCount }) => [modifiedCount, (await rows.deleteMany({ a: { $lte: 500 } })).deletedCount])
      .finally(() => {
        working = false;
      });
    while (working) {
      await mongo.db.command({ ping: 1 });
      pings++;
    }
    expect(await work).to.deep.equal([20_000, 10_000]);
    expect(pings).to.be.greaterThan(AT_EITHER_END);
    expect(await rows.estimatedDocumentCount()).to.equal(10_000);
  });

  if (isReal) return;

  it('stops cleanly during searches and writes', async function () {
    this.timeout(120_000);
    const server = await mongoServer({ ownProcess: true });
    const client = await rawClient(server.port);
    const documents = Array.from({ length: 5000 }, (_, _id) => ({ _id, a: _id }));
    expect((await client.command({ insert: 'x', documents, $db: 'stop' }))?.body.n).to.equal(5000);
    const others = await Promise.all(Array.from({ length: 20 }, () => rawClient(server.port)));
    const work = others.map((other, i) => {
      if (i % 2) return other.command({ count: 'x', query: { a: -1 }, $db: 'stop' });
      return other.command({
        update: 'x',
        updates: [{ q: {}, u: { $inc: { a: 1 } }, multi: true }],
        $db: 'stop',
      });
    });
    await server.stop();
    await Promise.all(work);
  });

  it('keeps every acknowledged write through SIGKILL under load', async function () {
    this.timeout(120_000);
    const rows = mongo.collection();
    await rows.createIndex({ email: 1 }, { unique: true });
    const { port } = mongo.server;
    for (let round = 0; round < 3; round++) {
      const acknowledged: number[] = [];
      let restarted: Promise<void> | undefined;
      let next = round * 1_000_000;
      const clients = await Promise.all(Array.from({ length: 16 }, () => rawClient(port)));
      const writing = clients.map(async (client) => {
        for (;;) {
          const _id = next++;
          const documents = [{ _id, email: `u${_id}` }];
          const reply = await client.command({
            insert: rows.collectionName,
            documents,
            $db: mongo.db.databaseName,
          });
          if (reply?.body.ok !== 1 || reply.body.n !== 1) return;
          acknowledged.push(_id);
          if (acknowledged.length === 500) restarted = mongo.server.restart('SIGKILL');
        }
      });
      await Promise.all(writing);
      await restarted;
      const found = new Set(
        (await rows.find({ _id: { $gte: round * 1_000_000 } as never }).toArray()).map(({ _id }) => Number(_id)),
      );
      expect(acknowledged.filter((_id) => !found.has(_id))).to.deep.equal([]);
      const byEmail = await rows.find({ email: { $gte: '' } }).toArray();
      expect(byEmail).to.have.length(await rows.estimatedDocumentCount());
      expect(byEmail).to.have.length(await rows.countDocuments({ _id: { $gte: 0 } as never }));
    }
  });
});
