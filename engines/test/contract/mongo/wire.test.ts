/** Tests the protocol: the handshake, and input that no driver sends. */
import { expect } from 'chai';
import fc from 'fast-check';
import { BSON } from 'mongodb';
import { isReal } from '../../support/mongo.js';
import { fixture } from '../../support/mongo-fixture.js';
import { frame, opMsg, type RawClient, rawClient, uint32 } from '../../support/raw-client.js';

const document = (value: object): Buffer => Buffer.from(BSON.serialize(value));

describe('MongoDB: the wire', () => {
  if (isReal) return;
  const mongo = fixture();
  let raw: RawClient;
  beforeEach(async () => {
    raw = await rawClient(mongo.server.port);
  });
  afterEach(() => raw.close());

  const hello = async (command: object, flags = 0) => (await raw.command({ ...command, $db: 'admin' }, flags))!.body;

  it('introduces itself as the primary of a set of one', async () => {
    const answer = await hello({ hello: 1 });
    const me = `127.0.0.1:${mongo.server.port}`;
    expect(answer).to.deep.include({
      setName: 'annals',
      hosts: [me],
      me,
      primary: me,
      isWritablePrimary: true,
      secondary: false,
      ok: 1,
    });
    expect(answer).to.deep.include({
      maxBsonObjectSize: 16777216,
      maxMessageSizeBytes: 48000000,
      maxWriteBatchSize: 100000,
      logicalSessionTimeoutMinutes: 30,
    });
    expect(answer).to.include.keys('electionId', 'lastWrite', '$clusterTime', 'operationTime');
    expect(answer).to.not.have.any.keys('helloOk', 'ismaster');
    const old = await hello({ isMaster: 1, helloOk: true });
    expect(old).to.include({ ismaster: true, helloOk: true }).and.not.have.property('isWritablePrimary');
  });

  it('answers the first handshake as OP_QUERY with OP_REPLY', async () => {
    const query = Buffer.concat([
      uint32(0),
      Buffer.from('admin.$cmd\0'),
      uint32(0),
      uint32(-1),
      document({ isMaster: 1 }),
    ]);
    raw.send(frame(2004, query, 11));
    const reply = await raw.receive();
    expect(reply).to.include({ responseTo: 11, flags: 8 });
    expect(reply?.body).to.include({ ismaster: true, ok: 1 });
  });

  it('requires a database', async () => {
    expect((await raw.command({ ping: 1 }))?.body.code).to.equal(40571);
  });

  it('executes a message that expects no answer without answering', async () => {
    const name = mongo.collection().collectionName;
    raw.send(opMsg({ insert: name, documents: [{ _id: 1 }], $db: mongo.db.databaseName }, 2));
    const found = await raw.command({ find: name, $db: mongo.db.databaseName });
    expect(found?.body.cursor.firstBatch).to.deep.equal([{ _id: 1 }]);
  });

  const CLOSED: [name: string, bytes: Buffer][] = [
    ['an unknown required flag', opMsg({ ping: 1, $db: 'a' }, 4)],
    ['an unknown opcode', frame(1234, Buffer.alloc(10))],
    ['a compressed message', frame(2012, Buffer.alloc(10))],
    ['too long a message', frame(2013, Buffer.alloc(4), 7, 48_000_001)],
    ['too short a message', frame(2013, Buffer.alloc(0), 7, 3)],
    ['a negative length', frame(2013, Buffer.alloc(0), 7, -1)],
    ['a wrong checksum', opMsg({ ping: 1, $db: 'a' }, 1)],
    ['a message without flags', frame(2013, Buffer.alloc(2))],
  ];
  for (const [name, bytes] of CLOSED)
    it(`closes the connection on ${name}`, async () => {
      raw.send(bytes);
      expect(await raw.receive()).to.equal(undefined);
    });

  const deep = (levels: number): Buffer => {
    let nested = document({});
    for (let i = 0; i < levels; i++)
      nested = Buffer.concat([uint32(nested.length + 8), Buffer.from('\x03a\0'), nested, Buffer.of(0)]);
    return nested;
  };
  const body = (bytes: Buffer): Buffer => frame(2013, Buffer.concat([uint32(0), Buffer.of(0), bytes]));
  const ANSWERED: [name: string, bytes: Buffer][] = [
    ['a document cut short', body(document({ ping: 1, $db: 'a' }).subarray(0, -3))],
    ['a document of the wrong length', body(Buffer.concat([uint32(500), document({ ping: 1 }).subarray(4)]))],
    ['a value of no type', body(Buffer.from('0800000042610000', 'hex'))],
    ['a string without an end', body(Buffer.from('100000000261000400000078797a7a00', 'hex'))],
    ['a document 5,000 levels deep', body(deep(5000))],
    [
      'two bodies',
      frame(2013, Buffer.concat([uint32(0), ...[1, 2].flatMap(() => [Buffer.of(0), document({ ping: 1, $db: 'a' })])])),
    ],
    ['no body', frame(2013, uint32(0))],
  ];
  for (const [name, bytes] of ANSWERED)
    it(`answers ${name} with an error and keeps working`, async () => {
      raw.send(bytes);
      const reply = await raw.receive();
      expect(reply?.body).to.include({ ok: 0 });
      expect((await hello({ ping: 1 })).ok).to.equal(1);
    });

  it('survives random bytes', async function () {
    this.timeout(120_000);
    const good = opMsg({
      update: 'x',
      updates: [{ q: { a: { $in: [1, 'b'] } }, u: { $push: { l: { $each: [1] } } }, upsert: true }],
      $db: mongo.db.databaseName,
    });
    const damaged = fc
      .array(fc.tuple(fc.integer({ min: 16, max: good.length - 1 }), fc.integer({ min: 0, max: 255 })), {
        minLength: 1,
        maxLength: 6,
      })
      .map((changes) => {
        const bytes = Buffer.from(good);
        for (const [at, byte] of changes) bytes[at] = byte;
        return bytes;
      });
    const garbage = fc.uint8Array({ minLength: 1, maxLength: 300 }).map((bytes) => Buffer.from(bytes));
    const other = await rawClient(mongo.server.port);
    await fc.assert(
      fc.asyncProperty(fc.oneof({ weight: 3, arbitrary: damaged }, garbage), async (bytes) => {
        const client = await rawClient(mongo.server.port);
        client.send(bytes);
        client.close();
        expect((await other.command({ ping: 1, $db: 'a' }))?.body.ok).to.equal(1);
      }),
      { numRuns: 300 },
    );
    other.close();
  });
});
