/** What becomes of a long command when its client has gone: nobody waits for it, and others do for their turn. */
import { expect } from 'chai';
import { connectMongo } from '../../../adapters/mongo/client.js';
import { Unavailable } from '../../../application/ports.js';
import { processorMs } from '../../bench/process.js';
import { eventually } from '../../support/condition.js';
import { all, rejection } from '../../support/eventstore-client.js';
import { isReal } from '../../support/mongo.js';
import { fixture } from './fixture.js';
import { opMsg, rawClient } from './rawClient.js';

/** Of what an engine does by itself in a while there is much less, of a search that goes on much more. */
const IDLE_MS = 60;
const WHILE_MS = 400;
const IN_A_ROW = 3;
const PATIENCE = 30;
const DOCUMENTS = 20_000;

describe('MongoDB: a client that goes', () => {
  if (isReal) return;
  const mongo = fixture({ ownProcess: true });
  let name: string;
  before(async () => {
    const rows = mongo.collection();
    name = rows.collectionName;
    await rows.insertMany(Array.from({ length: DOCUMENTS }, (_, a) => ({ a })));
  });

  const pid = () => mongo.server.pid ?? 0;
  const used = async () => {
    const before = processorMs(pid());
    await new Promise((resolve) => setTimeout(resolve, WHILE_MS));
    return processorMs(pid()) - before;
  };
  /** Each while of some in a row: on a busy machine a search may get little in one. */
  const expectIdle = async () => {
    let idle = 0;
    for (let n = 0; n < PATIENCE && idle < IN_A_ROW; n++) idle = (await used()) < IDLE_MS ? idle + 1 : 0;
    expect(idle).to.equal(IN_A_ROW);
  };
  /** Takes half a minute for all documents, alone on a machine. */
  const endless = { $or: Array.from({ length: 50_000 }, (_, n) => ({ [`field ${n}`]: 1 })) };

  for (const [what, command] of [
    ['find', { filter: endless }],
    ['count', { query: endless }],
    ['update', { updates: [{ q: endless, u: { $set: { b: 1 } }, multi: true }] }],
    ['delete', { deletes: [{ q: endless, limit: 0 }] }],
    ['findAndModify', { query: endless, remove: true }],
  ] as const)
    it(`leaves no ${what} behind`, async () => {
      const raw = await rawClient(mongo.server.port);
      raw.send(opMsg({ [what]: name, ...command, $db: mongo.db.databaseName }));
      await eventually(async () => (await used()) > 2 * IDLE_MS);
      raw.close();
      await expectIdle();
    });

  it('has gone for what this program has given up waiting for', async () => {
    const { models, close } = await connectMongo(mongo.server.url, mongo.db.databaseName);
    try {
      const rows = models.collection(name);
      const calls = [
        rows.find(endless).toArray(),
        rows.findOne(endless),
        rows.updateMany(endless, { $set: { b: 1 } }),
      ];
      for (const error of await Promise.all(calls.map(rejection))) expect(error).instanceOf(Unavailable);
      await expectIdle();
    } finally {
      await close();
    }
  });

  it('has gone for what this program has given up going through', async () => {
    const { models, close } = await connectMongo(mongo.server.url, mongo.db.databaseName);
    try {
      expect(await rejection(all(models.collection(name).find(endless)))).instanceOf(Unavailable);
      await expectIdle();
    } finally {
      await close();
    }
  });

  it('leaves an update where it is', async () => {
    const rows = mongo.db.collection(name);
    const raw = await rawClient(mongo.server.port);
    const updates = [{ q: { a: { $gte: 0 } }, u: { $set: { b: 1 } }, multi: true }];
    raw.send(opMsg({ update: name, updates, $db: mongo.db.databaseName }));
    const changed = () => rows.countDocuments({ b: 1 });
    await eventually(async () => (await changed()) > 0);
    raw.close();
    await eventually(async () => (await used()) < IDLE_MS);
    expect(await changed()).to.be.lessThan(DOCUMENTS);
  });
});
