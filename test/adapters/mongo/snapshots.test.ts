/** Snapshots of folds in MongoDB: read as they were written, whole or not at all, and none of another log. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createCheckpoints } from '../../../adapters/mongo/checkpoints.js';
import { connectMongo, type Mongo } from '../../../adapters/mongo/client.js';
import { createSnapshots } from '../../../adapters/mongo/snapshots.js';
import type { Snapshots } from '../../../application/follow/seed.js';
import { type MongoServer, mongoServer } from '../../support/mongo.js';

const MOST_BYTES = 1024 * 1024;
const POSITION = 9_007_199_254_740_993n;

describe('the snapshot of an audience, saved', () => {
  let server: MongoServer;
  let mongo: Mongo;
  let snapshots: Snapshots;

  before(async () => {
    server = await mongoServer();
  });
  after(() => server?.stop());
  beforeEach(async () => {
    mongo = await connectMongo(server.url, `test_${randomUUID().slice(0, 8)}`);
    snapshots = createSnapshots(mongo.models);
  });
  afterEach(async () => {
    await mongo?.models.dropDatabase();
    await mongo?.close();
  });

  const pieces = () => mongo.models.collection<{ _id: string; text: string }>('audiences');
  const parts = (count: number) => Array.from({ length: count }, (_, n) => [`channel-${n}`, ['ann', 'bob']]);

  it('is what was written last, of each service, in the order of its parts', async () => {
    expect(await snapshots.read('toys', 1)).to.equal(undefined);
    expect(await snapshots.write('toys', 1, POSITION, parts(3))).to.equal(true);
    expect(await snapshots.write('toyshop', 1, POSITION, [])).to.equal(true);
    const found = { position: POSITION, until: POSITION };
    expect(await snapshots.read('toys', 1)).to.deep.equal({ ...found, parts: parts(3) });
    expect(await snapshots.read('toyshop', 1)).to.deep.equal({ ...found, parts: [] });
    expect(await snapshots.write('toys', 1, POSITION + 2n, parts(1))).to.equal(true);
    const next = { position: POSITION + 2n, until: POSITION + 2n, parts: parts(1) };
    expect(await snapshots.read('toys', 1)).to.deep.equal(next);
    expect(await pieces().estimatedDocumentCount()).to.equal(1);
  });

  it('is of any size, in documents that have a bound', async () => {
    const many = parts(50_000);
    await snapshots.write('toys', 1, 5n, many);
    const texts = (await pieces().find().toArray()).map(({ text }) => text.length);
    expect(texts.length).to.be.greaterThan(1);
    expect(Math.max(...texts)).to.be.lessThan(MOST_BYTES);
    expect((await snapshots.read('toys', 1))?.parts).to.deep.equal(many);
  });

  it('is not replaced by an older one, and none is left of that', async () => {
    await snapshots.write('toys', 1, 50n, parts(2));
    expect(await snapshots.write('toys', 1, 40n, parts(1))).to.equal(false);
    expect((await snapshots.read('toys', 1))?.parts).to.deep.equal(parts(2));
    expect(await pieces().estimatedDocumentCount()).to.equal(1);
  });

  it('is not read in another form', async () => {
    await snapshots.write('toys', 1, 50n, parts(2));
    expect(await snapshots.read('toys', 2)).to.equal(undefined);
    expect(await snapshots.extend('toys', 2, 50n, 60n)).to.equal(false);
  });

  it('holds up to where there was nothing more, which only grows', async () => {
    await snapshots.write('toys', 1, 50n, parts(2));
    expect(await snapshots.extend('toys', 1, 50n, 70n)).to.equal(true);
    expect(await snapshots.extend('toys', 1, 50n, 60n)).to.equal(true);
    expect(await snapshots.read('toys', 1)).to.deep.include({ position: 50n, until: 70n });
    await snapshots.write('toys', 1, 80n, parts(1));
    expect(await snapshots.extend('toys', 1, 50n, 90n)).to.equal(false);
    expect(await snapshots.read('toys', 1)).to.deep.include({ position: 80n, until: 80n });
  });

  it('is none where a part of it is missing, as in a backup that was made meanwhile', async () => {
    await snapshots.write('toys', 1, 50n, parts(50_000));
    const [first] = await pieces().find().sort({ _id: 1 }).limit(1).toArray();
    await pieces().deleteOne({ _id: first!._id });
    expect(await snapshots.read('toys', 1)).to.equal(undefined);
  });

  it('is forgotten like a checkpoint, by how far it holds', async () => {
    const checkpoints = createCheckpoints(mongo.models);
    await snapshots.write('toys', 1, 50n, parts(1));
    await snapshots.extend('toys', 1, 50n, 70n);
    const [[name, until] = []] = await checkpoints.all();
    expect(until).to.equal(70n);
    await checkpoints.forget(name!);
    expect(await snapshots.read('toys', 1)).to.equal(undefined);
    expect(await snapshots.write('toys', 1, 10n, parts(2)), 'of the log as it is now').to.equal(true);
    expect(await snapshots.read('toys', 1)).to.deep.include({ position: 10n, parts: parts(2) });
  });
});
