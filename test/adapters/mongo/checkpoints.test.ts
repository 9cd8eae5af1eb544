/** Checkpoints of several nodes: a former leader moves nothing any more. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { MongoServerError } from 'mongodb';
import { createCheckpoints } from '../../../adapters/mongo/checkpoints.js';
import { connectMongo, type Mongo } from '../../../adapters/mongo/client.js';
import { type Checkpoints, Unavailable } from '../../../application/ports.js';
import { rejection } from '../../support/eventstore-client.js';
import { type MongoServer, mongoServer } from '../../support/mongo.js';

describe('a checkpoint', () => {
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

  it('is where it was last moved to, with every digit of the position', async () => {
    expect(await checkpoints.read(name)).to.equal(undefined);
    expect(await checkpoints.advance({ [name]: 9_007_199_254_740_993n }, 1n)).to.equal(true);
    expect(await checkpoints.read(name)).to.equal(9_007_199_254_740_993n);
    expect(await checkpoints.advance({ [name]: 9_007_199_254_740_995n }, 1n)).to.equal(true);
    expect(await checkpoints.read(name)).to.equal(9_007_199_254_740_995n);
    await checkpoints.forget(name);
    expect(await checkpoints.read(name)).to.equal(undefined);
  });

  it('is not moved by a former leader', async () => {
    await checkpoints.advance({ [name]: 10n }, 1n);
    expect(await checkpoints.advance({ [name]: 20n }, 2n)).to.equal(true);
    expect(await checkpoints.advance({ [name]: 30n }, 1n)).to.equal(false);
    expect(await checkpoints.read(name)).to.equal(20n);
    expect(await checkpoints.advance({ [name]: 30n }, 2n)).to.equal(true);
    expect(await checkpoints.advance({ [name]: 40n }, 12n)).to.equal(true);
    expect(await checkpoints.advance({ [name]: 50n }, 9n)).to.equal(false);
    expect(await checkpoints.read(name)).to.equal(40n);
  });

  it('is moved with others, and nothing is moved when there is nothing to move', async () => {
    expect(await checkpoints.advance({}, 1n)).to.equal(true);
    expect(await checkpoints.advance({ [name]: 1n, [`${name}b`]: 2n }, 1n)).to.equal(true);
    expect([await checkpoints.read(name), await checkpoints.read(`${name}b`)]).to.deep.equal([1n, 2n]);
  });

  it('is forgotten alone', async () => {
    await checkpoints.advance({ [name]: 1n, [`${name}b`]: 2n }, 1n);
    await checkpoints.forget(`${name}b`);
    expect([await checkpoints.read(name), await checkpoints.read(`${name}b`)]).to.deep.equal([1n, undefined]);
  });

  it('is not taken for another leader’s because MongoDB is away or refuses', async () => {
    for (const failure of [
      new Unavailable('MongoDB does not answer'),
      new MongoServerError({ message: 'not authorized', code: 13 }),
      Object.assign(new Error('another code of that number'), { code: 11000 }),
    ]) {
      const collection = () => ({ bulkWrite: () => Promise.reject(failure) });
      const refused = createCheckpoints({ collection } as unknown as Mongo['models']);
      expect(await rejection(refused.advance({ [name]: 1n }, 1n))).to.equal(failure);
    }
  });
});
