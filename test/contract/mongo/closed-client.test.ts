/** Long commands stop when their client disconnects; other clients are served meanwhile. */
import { eventually } from '@annals/engines/testing/condition.js';
import { collect, rejection } from '@annals/engines/testing/eventstore-client.js';
import { isReal } from '@annals/engines/testing/mongo.js';
import { fixture } from '@annals/engines/testing/mongo-fixture.js';
import { opMsg, rawClient } from '@annals/engines/testing/raw-client.js';
import { expect } from 'chai';
import { connectMongo } from '../../../adapters/mongo/client.js';
import { UnavailableError } from '../../../application/ports/index.js';

const DOCUMENTS = 100_000;

describe('MongoDB: a disconnected client', () => {
  if (isReal) return;
  const mongo = fixture({ ownProcess: true });
  let name: string;
  before(async () => {
    const rows = mongo.collection();
    name = rows.collectionName;
    await rows.insertMany(Array.from({ length: DOCUMENTS }, (_, a) => ({ a })));
  });

  const active = async () => {
    const { globalLock } = await mongo.client.db('admin').command({ serverStatus: 1 });
    return globalLock.activeClients.readers + globalLock.activeClients.writers;
  };
  const expectIdle = () => eventually(async () => (await active()) === 0);
  /** Takes minutes over all documents: longer than any wait here. */
  const endless = { $or: Array.from({ length: 20_000 }, (_, n) => ({ [`field ${n}`]: 1 })) };

  for (const [what, command] of [
    ['find', { filter: endless }],
    ['update', { updates: [{ q: endless, u: { $set: { b: 1 } }, multi: true }] }],
    ['delete', { deletes: [{ q: endless, limit: 0 }] }],
    ['findAndModify', { query: endless, update: { $set: { b: 1 } } }],
  ] as const)
    it(`leaves no ${what} running`, async () => {
      const raw = await rawClient(mongo.server.port);
      raw.send(opMsg({ [what]: name, ...command, $db: mongo.db.databaseName }));
      await eventually(async () => (await active()) > 0);
      raw.close();
      await expectIdle();
    });

  it('lets others run between two expensive documents', async () => {
    const few = mongo.collection();
    await few.insertMany(Array.from({ length: 100 }, (_, a) => ({ a })));
    const or = Array.from({ length: 100_000 }, (_, n) => ({ [`field ${n}`]: 1 }));
    for (const [what, command] of [
      ['find', { filter: { $or: or } }],
      ['find', { filter: { $or: or }, sort: { a: 1 } }],
      ['delete', { deletes: [{ q: { $or: or }, limit: 0 }] }],
    ] as const) {
      const raw = await rawClient(mongo.server.port);
      raw.send(opMsg({ [what]: few.collectionName, ...command, $db: mongo.db.databaseName }));
      await eventually(async () => (await active()) > 0);
      raw.close();
      await expectIdle();
    }
  });

  it('counts as disconnected when this program stops waiting for a command', async () => {
    const { models, close } = await connectMongo(mongo.server.url, mongo.db.databaseName);
    try {
      const rows = models.collection(name);
      const calls = [rows.find(endless).toArray(), rows.findOne(endless), rows.updateMany(endless, { $set: { b: 1 } })];
      for (const error of await Promise.all(calls.map(rejection))) expect(error).instanceOf(UnavailableError);
      await expectIdle();
    } finally {
      await close();
    }
  });

  it('counts as disconnected when this program stops iterating', async () => {
    const { models, close } = await connectMongo(mongo.server.url, mongo.db.databaseName);
    try {
      expect(await rejection(collect(models.collection(name).find(endless)))).instanceOf(UnavailableError);
      await expectIdle();
    } finally {
      await close();
    }
  });

  it('does not interrupt an update', async () => {
    const rows = mongo.db.collection(name);
    const raw = await rawClient(mongo.server.port);
    const updates = [{ q: { a: { $gte: 0 } }, u: { $set: { b: 1 } }, multi: true }];
    raw.send(opMsg({ update: name, updates, $db: mongo.db.databaseName }));
    const changed = () => rows.countDocuments({ b: 1 });
    await eventually(async () => (await changed()) > 0);
    raw.close();
    await expectIdle();
    expect(await changed()).to.be.lessThan(DOCUMENTS);
  });
});
