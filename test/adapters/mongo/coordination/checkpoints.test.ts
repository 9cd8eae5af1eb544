/** Checkpoints of several nodes: a former leader cannot move them. */
import { randomUUID } from 'node:crypto';
import { rejection } from '@annals/engines/testing/eventstore-client.js';
import { type MongoServer, mongoServer } from '@annals/engines/testing/mongo.js';
import { expect } from 'chai';
import { Long, MongoServerError } from 'mongodb';
import { connectMongo, type Mongo } from '../../../../adapters/mongo/client.js';
import { createCheckpoints, createWindows } from '../../../../adapters/mongo/coordination/checkpoints.js';
import { type Checkpoints, UnavailableError } from '../../../../application/ports/index.js';

describe('a checkpoint', () => {
  const by = (fence: bigint, name = 'projector:toys') => ({ name, fence });
  let server: MongoServer;
  let mongo: Mongo;
  let checkpoints: Checkpoints;
  let name: string;

  before(async () => {
    server = await mongoServer();
    mongo = await connectMongo(server.url, `test_${randomUUID().slice(0, 8)}`);
    checkpoints = createCheckpoints(mongo.models);
  });
  after(async () => {
    await mongo?.models.dropDatabase();
    await mongo?.close();
    await server?.stop();
  });
  beforeEach(() => {
    name = `rows_${randomUUID()}`;
  });

  it('is the last position saved, with every digit', async () => {
    expect(await checkpoints.read(name)).to.equal(undefined);
    expect(await checkpoints.advance({ [name]: 9_007_199_254_740_993n }, by(1n))).to.equal(true);
    expect(await checkpoints.read(name)).to.equal(9_007_199_254_740_993n);
    expect(await checkpoints.advance({ [name]: 9_007_199_254_740_995n }, by(1n))).to.equal(true);
    expect(await checkpoints.read(name)).to.equal(9_007_199_254_740_995n);
    await checkpoints.forget(name);
    expect(await checkpoints.read(name)).to.equal(undefined);
  });

  it('cannot be moved by a former leader', async () => {
    await checkpoints.advance({ [name]: 10n }, by(1n));
    expect(await checkpoints.advance({ [name]: 20n }, by(2n))).to.equal(true);
    expect(await checkpoints.advance({ [name]: 30n }, by(1n))).to.equal(false);
    expect(await checkpoints.read(name)).to.equal(20n);
    expect(await checkpoints.advance({ [name]: 30n }, by(2n))).to.equal(true);
    expect(await checkpoints.advance({ [name]: 40n }, by(12n))).to.equal(true);
    expect(await checkpoints.advance({ [name]: 50n }, by(9n))).to.equal(false);
    expect(await checkpoints.read(name)).to.equal(40n);
  });

  it('is taken over by the holder of another lease, whatever its fence, but never moved back', async () => {
    await checkpoints.advance({ [name]: 20n }, by(9n, 'build:toys.contents'));
    expect(await checkpoints.advance({ [name]: 19n }, by(50n))).to.equal(false);
    expect(await checkpoints.advance({ [name]: 20n }, by(2n))).to.equal(true);
    expect(await checkpoints.advance({ [name]: 19n }, by(10n, 'build:toys.contents'))).to.equal(false);
    expect(await checkpoints.advance({ [name]: 21n }, by(1n))).to.equal(false);
    // For a log restored from a backup, the same leader moves back to its end.
    expect(await checkpoints.advance({ [name]: 5n }, by(2n))).to.equal(true);
    expect(await checkpoints.read(name)).to.equal(5n);
  });

  it('is taken over from a row without a lease', async () => {
    const rows = mongo.models.collection<{ _id: string; position: Long; fence: Long }>('checkpoints');
    await rows.insertOne({ _id: name, position: Long.fromBigInt(20n), fence: Long.fromBigInt(57n) });
    expect(await checkpoints.advance({ [name]: 21n }, by(1n))).to.equal(true);
  });

  it('counts among all stored positions, with resume windows, by the furthest one', async () => {
    await checkpoints.advance({ [name]: 10n }, by(1n));
    await createWindows(mongo.models).save(new Map([[name, { horizon: 5n, from: 9_007_199_254_740_993n }]]));
    const all = await checkpoints.all();
    expect([all.get(name), all.get(`window:${name}`)]).to.deep.equal([10n, 9_007_199_254_740_993n]);
  });

  it('is saved together with others, and nothing is written when nothing changed', async () => {
    expect(await checkpoints.advance({}, by(1n))).to.equal(true);
    expect(await checkpoints.advance({ [name]: 1n, [`${name}b`]: 2n }, by(1n))).to.equal(true);
    expect([await checkpoints.read(name), await checkpoints.read(`${name}b`)]).to.deep.equal([1n, 2n]);
  });

  it('can be deleted alone', async () => {
    await checkpoints.advance({ [name]: 1n, [`${name}b`]: 2n }, by(1n));
    await checkpoints.forget(`${name}b`);
    expect([await checkpoints.read(name), await checkpoints.read(`${name}b`)]).to.deep.equal([1n, undefined]);
  });

  it('is not attributed to another leader when MongoDB is unavailable or refuses', async () => {
    for (const failure of [
      new UnavailableError('MongoDB does not answer'),
      new MongoServerError({ message: 'not authorized', code: 13 }),
      Object.assign(new Error('another code of that number'), { code: 11000 }),
    ]) {
      const collection = () => ({ bulkWrite: () => Promise.reject(failure) });
      const refused = createCheckpoints({ collection } as unknown as Mongo['models']);
      expect(await rejection(refused.advance({ [name]: 1n }, by(1n)))).to.equal(failure);
    }
  });
});
