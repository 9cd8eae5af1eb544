/** Resume windows of the live feed, passed from one node to the next without partial states. */
import { randomUUID } from 'node:crypto';
import { type MongoServer, mongoServer } from '@annals/engines/testing/mongo.js';
import { expect } from 'chai';
import { connectMongo, type Mongo } from '../../../../adapters/mongo/client.js';
import { createWindows } from '../../../../adapters/mongo/coordination/checkpoints.js';
import type { ResumeWindowStore } from '../../../../application/subscription/live-feed.js';

describe('a saved resume window', () => {
  let server: MongoServer;
  let mongo: Mongo;
  let windows: ResumeWindowStore;

  before(async () => {
    server = await mongoServer();
  });
  after(() => server?.stop());
  beforeEach(async () => {
    mongo = await connectMongo(server.url, `test_${randomUUID().slice(0, 8)}`);
    windows = createWindows(mongo.models);
  });
  afterEach(async () => {
    await mongo?.models.dropDatabase();
    await mongo?.close();
  });

  const rows = () => mongo.models.collection<{ _id: string }>('checkpoints');
  const first = { horizon: 9_007_199_254_740_993n, from: 9_007_199_254_740_995n };
  const second = { horizon: 9_007_199_254_740_997n, from: 9_007_199_254_740_999n };

  it('is the last one saved, per service', async () => {
    expect(await windows.read('toys')).to.equal(undefined);
    await windows.save(new Map());
    await windows.save(new Map([['toys', second]]));
    await windows.save(new Map(Object.entries({ toys: first, games: second })));
    expect([await windows.read('toys'), await windows.read('games')]).to.deep.equal([first, second]);
  });

  it('is one row, so that no crash leaves it half moved', async () => {
    await windows.save(new Map([['toys', first]]));
    await windows.save(new Map([['toys', second]]));
    expect((await rows().find().toArray()).map(({ _id }) => _id)).to.deep.equal(['window:toys']);
  });
});
