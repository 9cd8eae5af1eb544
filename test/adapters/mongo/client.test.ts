/** The MongoDB client: write concern, conversions, and closing. */
import { randomUUID } from 'node:crypto';
import { collect, rejection } from '@annals/engines/testing/eventstore-client.js';
import { type MongoServer, mongoServer } from '@annals/engines/testing/mongo.js';
import { expect } from 'chai';
import { Long } from 'mongodb';
import { connectMongo, type Mongo } from '../../../adapters/mongo/client.js';
import { UnavailableError } from '../../../application/ports/index.js';

interface Doc {
  readonly _id: string;
  readonly [field: string]: unknown;
}

describe('the MongoDB client', () => {
  let server: MongoServer;
  let mongo: Mongo;
  let name: string;

  before(async () => {
    server = await mongoServer();
    name = `test_${randomUUID().slice(0, 8)}`;
    mongo = await connectMongo(server.url, name);
  });
  after(async () => {
    await mongo?.models.dropDatabase();
    await mongo?.keys.dropDatabase();
    await mongo?.close();
    await server?.stop();
  });

  it('uses separate databases for rows and keys, with journaled majority writes', () => {
    expect([mongo.models.databaseName, mongo.keys.databaseName]).to.deep.equal([name, `${name}_keys`]);
    for (const db of [mongo.models, mongo.keys])
      expect(db.writeConcern).to.deep.include({ w: 'majority', journal: true });
  });

  it('keeps write and read concern, and the primary, whatever the address says', async () => {
    const weak = 'readPreference=secondaryPreferred&maxStalenessSeconds=120&readConcernLevel=available&journal=false';
    const other = await connectMongo(`${server.url}${server.url.includes('?') ? '&' : '?'}${weak}`, name);
    try {
      for (const db of [other.models, other.keys]) {
        const { readPreference, readConcern, writeConcern } = db.collection('rows');
        expect([readPreference?.mode, readConcern?.level]).to.deep.equal(['primary', 'local']);
        expect(writeConcern).to.deep.include({ w: 'majority', journal: true });
      }
    } finally {
      await other.close();
    }
  });

  it('omits undefined members and keeps every digit of a position', async () => {
    const rows = mongo.models.collection<Doc>('rows');
    const at = Long.fromBigInt(9_007_199_254_740_993n);
    await rows.insertOne({ _id: 'a', at, nothing: undefined });
    expect(await rows.findOne({ _id: 'a' })).to.deep.equal({ _id: 'a', at });
    expect(await collect(rows.find({}).sort({ _id: 1 }).limit(1))).to.deep.equal([{ _id: 'a', at }]);
  });

  it('probes writes by writing one fixed row', async () => {
    await mongo.ping();
    const trial = mongo.models.collection<Doc>('trial');
    await trial.insertOne({ _id: 'another' });
    await mongo.writable();
    await trial.updateOne({ _id: 'trial' }, { $set: { at: new Date(0) } });
    await mongo.writable();
    const found = await collect(trial.find({}).sort({ _id: 1 }));
    expect(found.map(({ _id, at }) => [_id, at instanceof Date && at.getTime() > 0])).to.deep.equal([
      ['another', false],
      ['trial', true],
    ]);
  });

  it('is unavailable once closed, for every call', async () => {
    const closed = await connectMongo(server.url, name);
    await closed.close();
    for (const call of [
      closed.ping(),
      closed.writable(),
      closed.models.collection<Doc>('rows').findOne({}),
      closed.models.listCollections().toArray(),
      collect(closed.models.collection<Doc>('rows').find({}).sort({ _id: 1 })),
    ])
      expect(await rejection(call)).to.be.instanceOf(UnavailableError);
  });
});
