/** Snapshots of folds in MongoDB: complete or absent, and never of another log. */
import { randomUUID } from 'node:crypto';
import { rejection } from '@annals/engines/testing/eventstore-client.js';
import { type MongoServer, mongoServer } from '@annals/engines/testing/mongo.js';
import { expect } from 'chai';
import { aes256gcm } from '../../../../adapters/crypto/cipher.js';
import { connectMongo, type Mongo } from '../../../../adapters/mongo/client.js';
import { createCheckpoints } from '../../../../adapters/mongo/coordination/checkpoints.js';
import { createSnapshots } from '../../../../adapters/mongo/coordination/snapshots.js';
import { UnavailableError } from '../../../../application/ports/index.js';
import { createVault, type KeyStore } from '../../../../application/secrets/vault.js';
import { encryptSnapshots } from '../../../../application/subscription/encrypted-snapshots.js';
import type { Snapshots } from '../../../../application/subscription/fold-snapshots.js';
import { interrupted } from '../key-databases.js';

const MOST_BYTES = 1024 * 1024;
const POSITION = 9_007_199_254_740_993n;

describe('a saved snapshot', () => {
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

  it('is the last one written, per service, with its parts in order', async () => {
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

  it('can have any size in documents of bounded size', async () => {
    const many = parts(50_000);
    await snapshots.write('toys', 1, 5n, many);
    const texts = (await pieces().find().toArray()).map(({ text }) => text.length);
    expect(texts.length).to.be.greaterThan(1);
    expect(Math.max(...texts)).to.be.lessThan(MOST_BYTES);
    expect((await snapshots.read('toys', 1))?.parts).to.deep.equal(many);
  });

  it('is not replaced by an older one, of which nothing remains', async () => {
    await snapshots.write('toys', 1, 50n, parts(2));
    expect(await snapshots.write('toys', 1, 40n, parts(1))).to.equal(false);
    expect((await snapshots.read('toys', 1))?.parts).to.deep.equal(parts(2));
    expect(await pieces().estimatedDocumentCount()).to.equal(1);
  });

  it('is ignored in another format', async () => {
    await snapshots.write('toys', 1, 50n, parts(2));
    expect(await snapshots.read('toys', 2)).to.equal(undefined);
    expect(await snapshots.extend('toys', 2, 50n, 60n)).to.equal(false);
  });

  it('covers positions without events, and only grows', async () => {
    await snapshots.write('toys', 1, 50n, parts(2));
    expect(await snapshots.extend('toys', 1, 50n, 70n)).to.equal(true);
    expect(await snapshots.extend('toys', 1, 50n, 60n)).to.equal(true);
    expect(await snapshots.read('toys', 1)).to.deep.include({ position: 50n, until: 70n });
    await snapshots.write('toys', 1, 80n, parts(1));
    expect(await snapshots.extend('toys', 1, 50n, 90n)).to.equal(false);
    expect(await snapshots.read('toys', 1)).to.deep.include({ position: 80n, until: 80n });
  });

  it('is absent when a part is missing, as in a backup taken meanwhile', async () => {
    await snapshots.write('toys', 1, 50n, parts(50_000));
    const [first] = await pieces().find().sort({ _id: 1 }).limit(1).toArray();
    await pieces().deleteOne({ _id: first!._id });
    expect(await snapshots.read('toys', 1)).to.equal(undefined);
  });

  it('is the previous one while another is being written, even if that never completes', async () => {
    await snapshots.write('toys', 1, 50n, parts(50_000));
    const before = await pieces().estimatedDocumentCount();
    let written = 0;
    async function* broken() {
      for (const part of parts(50_000)) {
        if (++written === 20_000) {
          expect((await snapshots.read('toys', 1))?.position).to.equal(50n);
          expect(await pieces().estimatedDocumentCount()).to.be.greaterThan(before);
          throw new Error('killed');
        }
        yield part;
      }
    }
    const failure = await snapshots.write('toys', 1, 60n, broken()).catch((error: Error) => error);
    expect(failure).to.include({ message: 'killed' });
    expect((await snapshots.read('toys', 1))?.parts).to.deep.equal(parts(50_000));
    expect(await snapshots.write('toys', 1, 70n, parts(1))).to.equal(true);
    expect(await pieces().estimatedDocumentCount(), 'nothing is left of it').to.equal(1);
  });

  it('is the newest and complete when several nodes write concurrently', async () => {
    const all = [60n, 90n, 70n, 80n].map((at) =>
      snapshots.write('toys', 1, at, parts(Number(at) * 500)).catch(() => false),
    );
    await Promise.all(all);
    const found = await snapshots.read('toys', 1);
    expect(found?.position).to.equal(90n);
    expect(found?.parts).to.deep.equal(parts(45_000));
  });

  it('belongs to the faster writer; the other leaves nothing behind', async () => {
    for (const [at, name] of [
      [98n, 'updateOne'],
      [100n, 'insertOne'],
    ] as const) {
      let quicker: Promise<boolean> | undefined;
      const slow = interrupted(mongo.models, (asked) => {
        if (asked !== name || quicker) return undefined;
        quicker = snapshots.write('toys', 1, at + 1n, parts(2));
        return quicker.then(() => {});
      });
      expect(await createSnapshots(slow).write('toys', 1, at, parts(1))).to.equal(false);
      expect(await quicker).to.equal(true);
      const found = { position: at + 1n, until: at + 1n, parts: parts(2) };
      expect(await snapshots.read('toys', 1)).to.deep.equal(found);
      expect(await pieces().estimatedDocumentCount()).to.equal(1);
    }
  });

  it('is not reported as written when that is unknown', async () => {
    const away = new UnavailableError('MongoDB did not answer');
    const refusing = interrupted(mongo.models, (name) => (name === 'updateOne' ? Promise.reject(away) : undefined));
    expect(await rejection(createSnapshots(refusing).write('toys', 1, 50n, parts(1)))).to.equal(away);
    expect(await snapshots.read('toys', 1)).to.equal(undefined);
  });

  it('seals personal data, which is unreadable once the key is destroyed', async () => {
    const keys = new Map<string, Buffer | 'destroyed'>([['ann', aes256gcm.newKey()]]);
    const store = { read: async (subject: string) => keys.get(subject) } as KeyStore;
    const vault = () => createVault(store, aes256gcm);
    const sealed = () => encryptSnapshots(snapshots, vault());
    const part = { id: 1, subject: 'ann', secret: { name: 'Antoinette' } };
    await sealed().write('toys', 1, 50n, [part, { id: 2 }]);
    expect((await pieces().find().toArray())[0]!.text).not.to.include('Antoinette');
    expect((await sealed().read('toys', 1))?.parts).to.deep.equal([part, { id: 2 }]);
    keys.set('ann', 'destroyed');
    const [erased] = (await sealed().read('toys', 1))!.parts;
    expect(erased).to.deep.equal({ ...part, secret: undefined });
    await sealed().write('toys', 1, 60n, [part]);
    expect((await sealed().read('toys', 1))?.parts).to.deep.equal([{ id: 1, subject: 'ann' }]);
  });

  it('can be deleted like a checkpoint, by its position', async () => {
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
