/** Tests retryable writes: a repeated command gets the same answer and takes effect once. */
import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Binary, type Document, Int32, Long } from 'mongodb';
import { isReal } from '../../support/mongo.js';
import { fixture } from '../../support/mongo-fixture.js';
import { writtenBytes } from '../../support/process-usage.js';
import { type RawClient, rawClient } from '../../support/raw-client.js';

/** Statements of a batch that takes many transactions. */
const LONG = 40_000;

describe('MongoDB: retryable writes', () => {
  // Uses a raw client, because a driver would not send a command twice.
  if (isReal) return;
  const mongo = fixture({ ownProcess: true });
  let raw: RawClient;
  beforeEach(async () => {
    raw = await rawClient(mongo.server.port);
  });
  afterEach(() => raw.close());

  const session = () => ({ id: new Binary(Buffer.from(randomUUID().replaceAll('-', ''), 'hex'), 4) });
  const send = async (command: Document): Promise<Document> =>
    (await raw.command({ ...command, $db: mongo.db.databaseName }))!.body;
  const essence = ({ n, nModified, upserted, value, lastErrorObject }: Document) =>
    JSON.stringify({ n, nModified, upserted, value, lastErrorObject });

  const COMMANDS: [name: string, command: (collection: string) => Document, after: object[]][] = [
    [
      'an insert',
      (c) => ({ insert: c, documents: [{ _id: 1 }, { _id: 2 }] }),
      [{ _id: 0, a: 1 }, { _id: 1 }, { _id: 2 }],
    ],
    ['an update', (c) => ({ update: c, updates: [{ q: { _id: 0 }, u: { $inc: { a: 1 } } }] }), [{ _id: 0, a: 2 }]],
    [
      'an upsert',
      (c) => ({ update: c, updates: [{ q: { _id: 5 }, u: { $inc: { a: 1 } }, upsert: true }] }),
      [
        { _id: 0, a: 1 },
        { _id: 5, a: 1 },
      ],
    ],
    ['a delete', (c) => ({ delete: c, deletes: [{ q: { a: 1 }, limit: 1 }] }), []],
    [
      'a findAndModify',
      (c) => ({ findAndModify: c, query: { _id: 0 }, update: { $inc: { a: 5 } } }),
      [{ _id: 0, a: 6 }],
    ],
    [
      'a search without an index',
      (c) => ({ update: c, updates: [{ q: { a: { $ne: 7 } }, u: { $inc: { a: 1 } } }] }),
      [{ _id: 0, a: 2 }],
    ],
  ];
  for (const [name, command, after] of COMMANDS)
    for (const restart of [false, true])
      it(`answers a repeated ${name} with the first result and runs it once${restart ? ', even after SIGKILL' : ''}`, async () => {
        const rows = mongo.collection();
        await rows.insertOne({ _id: 0 as never, a: 1 });
        const sent = { ...command(rows.collectionName), lsid: session(), txnNumber: Long.fromNumber(1) };
        const first = await send(sent);
        if (restart) {
          await mongo.server.restart('SIGKILL');
          raw.close();
          raw = await rawClient(mongo.server.port);
        }
        expect(essence(await send(sent))).to.equal(essence(first));
        expect(first.ok).to.equal(1);
        const documents = await rows.find().sort({ _id: 1 }).toArray();
        expect(documents).to.deep.equal(after);
      });

  it('continues an interrupted batch and retries failed statements', async () => {
    const rows = mongo.collection();
    await rows.createIndex({ a: 1 }, { unique: true });
    await rows.insertOne({ _id: 9 as never, a: 2 });
    const documents = [1, 2, 3].map((i) => ({ _id: i, a: i }));
    const sent = { insert: rows.collectionName, documents, lsid: session(), txnNumber: Long.fromNumber(1) };
    const first = await send(sent);
    expect(first.n).to.equal(1);
    expect(first.writeErrors[0].index).to.equal(1);
    await rows.deleteOne({ _id: 9 as never });
    const second = await send(sent);
    expect(second.n).to.equal(3);
    expect(second.writeErrors).to.equal(undefined);
    expect(await rows.countDocuments()).to.equal(3);
  });

  const upserts = (length: number) =>
    Array.from({ length }, (_, _id) => ({ q: { _id }, u: { $inc: { a: 1 } }, upsert: true }));
  const numbered = (lsid: object, number: number) => ({ lsid, txnNumber: Long.fromNumber(number) });

  it('answers a repeated long batch with the first result and runs it once, even after SIGKILL', async () => {
    const rows = mongo.collection();
    const sent = { update: rows.collectionName, updates: upserts(5000), ...numbered(session(), 1) };
    const first = await send(sent);
    expect(first.upserted).length(5000);
    await mongo.server.restart('SIGKILL');
    raw.close();
    raw = await rawClient(mongo.server.port);
    expect(essence(await send(sent))).to.equal(essence(first));
    expect(await rows.countDocuments({ a: 1 })).to.equal(5000);
  });

  it('stores the result of each statement of a long batch once', async () => {
    const rows = mongo.collection();
    await send({ update: rows.collectionName, updates: upserts(LONG) });
    const written = async (more: object) => {
      const before = writtenBytes(mongo.server.pid!);
      await send({ update: rows.collectionName, updates: upserts(LONG), ...more });
      return writtenBytes(mongo.server.pid!) - before;
    };
    // A slow machine needs more transactions; rewriting all results in each would cost ten times as much.
    const once = await written({});
    expect(await written(numbered(session(), 1))).lessThan(4 * once);
  });

  it('stores only the last command of a session', async () => {
    const update = mongo.collection().collectionName;
    const updates = Array.from({ length: 10_000 }, (_, _id) => ({ q: { _id }, u: { $inc: { a: 1 } } }));
    const fileAfter = async (sessions: number) => {
      for (; sessions > 0; sessions--) {
        const lsid = session();
        await send({ update, updates, ...numbered(lsid, 1) });
        await send({ update, updates: updates.slice(1), ...numbered(lsid, 2) });
        await send({ update, updates: updates.slice(0, 1), ...numbered(lsid, 3) });
      }
      return statSync(join(mongo.server.directory!, 'data.mdb')).size;
    };
    const before = await fileAfter(2);
    expect(await fileAfter(10)).lessThan(before + 2 ** 19);
  });

  it('refuses older numbers; a newer one discards the older', async () => {
    const name = mongo.collection().collectionName;
    const lsid = session();
    const insert = (_id: number, number: number) =>
      send({ insert: name, documents: [{ _id }], lsid, txnNumber: Long.fromNumber(number) });
    expect((await insert(1, 5)).n).to.equal(1);
    expect((await insert(2, 6)).n).to.equal(1);
    expect((await insert(3, 5)).code).to.equal(225);
    expect((await insert(3, 7)).n).to.equal(1);
  });

  it('refuses a number used by a command of another kind, without effect', async () => {
    for (const [, first] of COMMANDS)
      for (const [, second] of COMMANDS) {
        const rows = mongo.collection();
        await rows.insertOne({ _id: 0 as never, a: 1 });
        const [one, other] = [first(rows.collectionName), second(rows.collectionName)];
        if (Object.keys(one)[0] === Object.keys(other)[0]) continue;
        const number = { lsid: session(), txnNumber: Long.fromNumber(1) };
        await send({ ...one, ...number });
        const before = await rows.find().sort({ _id: 1 }).toArray();
        expect((await send({ ...other, ...number })).code).to.equal(72);
        expect(await rows.find().sort({ _id: 1 }).toArray()).to.deep.equal(before);
      }
  });

  it('refuses numbers and sessions of the wrong type, multi writes with a number, and transactions', async () => {
    const name = mongo.collection().collectionName;
    const insert = { insert: name, documents: [{}] };
    const txnNumber = Long.fromNumber(1);
    const code = async (command: Document) => (await send(command)).code;
    expect(await code({ ...insert, lsid: session(), txnNumber: new Int32(1) })).to.equal(14);
    expect(await code({ ...insert, lsid: 5, txnNumber })).to.equal(14);
    expect(await code({ ...insert, txnNumber })).to.equal(72);
    expect(await code({ delete: name, deletes: [{ q: {}, limit: 0 }], lsid: session(), txnNumber })).to.equal(72);
    expect(
      await code({
        update: name,
        updates: [{ q: {}, u: { $set: { a: 1 } }, multi: true }],
        lsid: session(),
        txnNumber,
      }),
    ).to.equal(72);
    const transaction = { startTransaction: true, autocommit: false };
    expect(await code({ ...insert, lsid: session(), txnNumber, ...transaction })).to.equal(263);
    expect(await mongo.db.collection(name).countDocuments()).to.equal(0);
  });
});
