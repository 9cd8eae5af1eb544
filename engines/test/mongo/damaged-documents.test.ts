/** Tests damaged documents in the embedded MongoDB, and documents stored before checksums existed. */
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Db, MongoClient } from 'mongodb';
import { startMongoEngine } from '../../mongo/engine.js';
import { Catalog } from '../../mongo/storage/catalog.js';
import { addChecksum, verifyChecksum } from '../../mongo/storage/checksummed.js';
import { documentKey } from '../../mongo/storage/collection.js';
import { StoreDamaged } from '../../supervisor/store-check.js';
import { codeOf } from '../support/mongo-fixture.js';

const DAMAGED = 301;
const LEAF_BYTES = 300;
/** Bytes of the header of an LMDB page. */
const HEADER_BYTES = 24;

describe('the documents of the embedded MongoDB', () => {
  let directory: string;
  let engine: Awaited<ReturnType<typeof startMongoEngine>> | undefined;
  let client: MongoClient;
  let db: Db;
  const start = async () => {
    engine = await startMongoEngine({ directory, secret: 'of this test' });
    client = await new MongoClient(engine.url).connect();
    db = client.db('toys');
  };
  const stop = async () => {
    await client?.close();
    await engine?.stop();
    engine = undefined;
  };
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'annals-damaged-'));
    await start();
    await db.collection('boxes').createIndex({ size: 1 });
    await db
      .collection<{ _id: string }>('boxes')
      .insertMany(['a', 'b', 'c'].map((name, size) => ({ _id: name, size, text: `text of ${name}` })));
    await stop();
  });
  afterEach(async () => {
    await stop();
    await rm(directory, { recursive: true, force: true });
  });

  /** Changes the stored bytes of a document. */
  async function alter(change: (catalog: Catalog, key: Buffer, value: Buffer) => void) {
    const catalog = new Catalog(directory, (error) => {
      throw error;
    });
    const boxes = catalog.find('toys.boxes')!;
    const range = { low: boxes.head, high: Buffer.concat([boxes.head, Buffer.of(0xff)]), limit: 10 };
    await catalog.store.write(() => {
      for (const { key, value } of [...catalog.store.entries(range)])
        if (value.includes('text of b')) change(catalog, documentKey(boxes, key.subarray(5)), value);
      return true;
    });
    await catalog.close();
    await start();
  }
  const reads = (): { [by: string]: () => Promise<unknown> } => {
    const boxes = db.collection<{ _id: string }>('boxes');
    return {
      id: () => boxes.findOne({ _id: 'b' }),
      index: () => boxes.find({ size: { $gte: 0 } }).toArray(),
      scan: () => boxes.find({}).toArray(),
      update: () => boxes.updateOne({ _id: 'b' }, { $set: { size: 7 } }),
    };
  };

  for (const [what, at] of [
    ['its length', 0],
    ['a name', 6],
    ['its text', 30],
    ['its checksum', -2],
  ] as const) {
    it(`are refused if one bit of ${what} is flipped; other documents stay readable`, async () => {
      await alter((catalog, key, value) => {
        value[at < 0 ? value.length + at : at]! ^= 1;
        catalog.store.put(key, value);
      });
      for (const [by, read] of Object.entries(reads())) expect(await codeOf(read()), by).to.equal(DAMAGED);
      expect(await db.collection<{ _id: string }>('boxes').findOne({ _id: 'c' })).to.include({ size: 2 });
    });
  }

  it('are refused if an index leads to a missing one', async () => {
    await alter((catalog, key) => catalog.store.remove(key));
    expect(await codeOf(reads().index!())).to.equal(DAMAGED);
  });

  it('are refused if one is stored under the key of another', async () => {
    await alter((catalog, key, value) => {
      key[key.length - 2]! ^= 1;
      catalog.store.put(key, value);
    });
    expect(await codeOf(reads().scan!())).to.equal(DAMAGED);
  });

  it('are refused if a key is damaged or ends a range early', async () => {
    const catalog = new Catalog(directory, () => {});
    const { head } = catalog.find('toys.boxes')!;
    await catalog.close();
    const file = join(directory, 'data.mdb');
    const bytes = readFileSync(file);
    for (let at = bytes.indexOf('text of b'); at >= 0; at = bytes.indexOf('text of b', at + 1))
      bytes[bytes.lastIndexOf(head, at)] = 0x7f;
    writeFileSync(file, bytes);
    await start();
    for (const [by, read] of Object.entries(reads())) expect(await codeOf(read()), by).to.equal(DAMAGED);
    const others = db.collection<{ _id: string }>('boxes');
    expect(await others.findOne({ _id: 'a' })).to.include({ size: 0 });
    expect(await others.findOne({ _id: '0' })).to.equal(null);
    const upsert = (...ids: string[]) =>
      others.bulkWrite(
        ids.map((_id) => ({ updateOne: { filter: { _id }, update: { $set: { size: 3 } }, upsert: true } })),
      );
    for (const beside of ['aa', 'b', 'bb']) expect(await codeOf(upsert('0', '00', beside)), beside).to.equal(DAMAGED);
    expect((await upsert('000', '0000', '00')).upsertedCount).to.equal(2);
  });

  it('are not served if the list of collections is damaged: the start fails', async () => {
    const file = join(directory, 'data.mdb');
    const bytes = readFileSync(file);
    for (let at = bytes.indexOf('longIds'); at >= 0; at = bytes.indexOf('longIds', at + 1)) bytes[at] = 0x4c;
    writeFileSync(file, bytes);
    const refused = await startMongoEngine({ directory, secret: 'x' }).catch((error) => error);
    expect(refused).to.be.instanceOf(StoreDamaged);
    expect(refused.message).to.match(/list of collections .* is damaged: restore/);
  });

  it('are refused if their page is invalid; other documents stay readable', async () => {
    await start();
    const boxes = db.collection<{ _id: string }>('boxes');
    await boxes.insertMany(
      Array.from({ length: 200 }, (_, n) => ({
        _id: `p${n}`,
        size: 9,
        text: `page ${n} `.repeat(LEAF_BYTES / 9),
      })),
    );
    await stop();
    const file = join(directory, 'data.mdb');
    const bytes = readFileSync(file);
    const page = 4096;
    for (let start = 0; start < bytes.length; start += page) {
      // Nodes end the page; the space before them may contain remains of a freed page.
      const nodes = start + HEADER_BYTES + bytes.readUInt16LE(start + 22);
      const at = bytes.subarray(0, start + page).lastIndexOf('page 150 ');
      if (at >= nodes) bytes.fill(0, start, start + page);
    }
    writeFileSync(file, bytes);
    await start();
    const found = db.collection<{ _id: string }>('boxes');
    expect(await codeOf(found.findOne({ _id: 'p150' }))).to.equal(DAMAGED);
    expect(await found.findOne({ _id: 'b' })).to.include({ size: 1 });
  });

  it('have a checksum that is valid only under their own key', () => {
    const [key, other] = [Buffer.from('a'), Buffer.from('b')];
    const document = Buffer.of(5, 0, 0, 0, 0);
    expect(verifyChecksum(key, addChecksum(key, document))).to.deep.equal(document);
    expect(verifyChecksum(other, addChecksum(key, document))).to.equal(undefined);
    expect(verifyChecksum(key, Buffer.alloc(0))).to.equal(undefined);
  });
});
