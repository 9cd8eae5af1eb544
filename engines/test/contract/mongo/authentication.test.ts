/** Who has not shown the password may say hello, and nothing else. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { Binary, type Document, MongoClient } from 'mongodb';
import { isReal } from '../../support/mongo.js';
import { fixture } from '../../support/mongo-fixture.js';
import { clientFinal, opMsg, type RawClient, rawClient, SECRET, stranger } from '../../support/raw-client.js';

describe('MongoDB: authentication', () => {
  // A real server given to these tests may do without.
  if (isReal) return;
  const mongo = fixture();
  let raw: RawClient;
  beforeEach(async () => {
    raw = await stranger(mongo.server.port);
  });
  afterEach(() => raw.close());

  const send = async (command: Document, database = 'admin') =>
    (await raw.command({ ...command, $db: database }))?.body;
  const NONCE = 'n'.repeat(24);
  const start = (changes: object = {}, text = `n,,n=annals,r=${NONCE}`) => ({
    saslStart: 1,
    mechanism: 'SCRAM-SHA-256',
    payload: new Binary(Buffer.from(text)),
    options: { skipEmptyExchange: true },
    ...changes,
  });
  const finish = (challenge: Binary, password: string) => ({
    saslContinue: 1,
    conversationId: 1,
    payload: new Binary(Buffer.from(clientFinal(password, `n=annals,r=${NONCE}`, challenge.toString('utf8')))),
  });

  it('lets strangers ask who is there', async () => {
    for (const command of ['hello', 'isMaster', 'ping', 'buildInfo', 'connectionStatus'])
      expect(await send({ [command]: 1 }), command).to.include({ ok: 1 });
    expect((await send({ connectionStatus: 1 }))?.authInfo.authenticatedUsers).to.deep.equal([]);
  });

  const REFUSED: Document[] = [
    { find: 'keys' },
    { insert: 'keys', documents: [{ _id: 1 }] },
    { update: 'keys', updates: [{ q: {}, u: { $set: { a: 1 } }, multi: true }] },
    { delete: 'keys', deletes: [{ q: {}, limit: 0 }] },
    { findAndModify: 'keys', remove: true },
    { aggregate: 'keys', pipeline: [], cursor: {} },
    { getMore: 1, collection: 'keys' },
    { listDatabases: 1 },
    { listCollections: 1 },
    { dropDatabase: 1 },
    { serverStatus: 1 },
  ];
  for (const command of REFUSED)
    it(`refuses a stranger's ${Object.keys(command)[0]}`, async () => {
      expect(await send(command)).to.include({ ok: 0, code: 13, codeName: 'Unauthorized' });
    });

  it('does nothing for a stranger who wants no answer', async () => {
    const name = mongo.collection().collectionName;
    raw.send(opMsg({ insert: name, documents: [{ _id: 1 }], $db: mongo.db.databaseName }, 2));
    expect(await send({ ping: 1 })).to.include({ ok: 1 });
    expect(await mongo.db.collection(name).countDocuments()).to.equal(0);
  });

  it('takes long messages only from those it knows', async () => {
    expect(await send({ ping: 1, padding: 'x'.repeat(20_000) })).to.equal(undefined);
    raw = await stranger(mongo.server.port);
    const { payload } = (await send(start()))!;
    await send(finish(payload, SECRET));
    expect(await send({ ping: 1, padding: 'x'.repeat(20_000) })).to.include({ ok: 1 });
  });

  it('closes the connections of strangers that came first when there are many, and none of a driver', async () => {
    const { server } = mongo;
    const client = new MongoClient(server.url);
    const lost: unknown[] = [];
    const lose = (event: unknown) => lost.push(event);
    client.on('serverHeartbeatFailed', lose).on('connectionPoolCleared', lose);
    // On a connection that never authenticates the driver waits for changes of the topology.
    const watching = new Promise<void>((resolve) =>
      client.on('serverHeartbeatStarted', ({ awaited }) => awaited && resolve()),
    );
    await client.db('admin').command({ ping: 1 });
    await watching;
    const crowd: RawClient[] = [];
    for (let count = 0; count < 150; count++) crowd.push(await stranger(server.port));
    expect(await crowd[0]!.receive()).to.equal(undefined);
    expect((await crowd.at(-1)!.command({ ping: 1, $db: 'admin' }))?.body).to.include({ ok: 1 });
    const { connections } = await client.db('admin').command({ serverStatus: 1 });
    expect(connections.current).to.be.below(120);
    expect(lost).to.deep.equal([]);
    for (const each of crowd) each.close();
    await client.close();
  });

  it('lets a client with the password in while others connect and leave without it', async () => {
    const { server } = mongo;
    for (let count = 0; count < 1000; count += 50) {
      const sockets = Array.from({ length: 50 }, () => connect(server.port, '127.0.0.1').on('error', () => {}));
      await Promise.all(sockets.map((socket) => once(socket, 'connect')));
      for (const socket of sockets) socket.destroy();
    }
    const client = new MongoClient(server.url, { serverSelectionTimeoutMS: 5000 });
    expect(await client.db('test').command({ ping: 1 })).to.include({ ok: 1 });
    await client.close();
  });

  it('knows who has authenticated, whatever he calls himself', async () => {
    const known = await rawClient(mongo.server.port);
    const crowd: RawClient[] = [];
    for (let count = 0; count < 120; count++) crowd.push(await stranger(mongo.server.port));
    expect(await crowd[0]!.receive()).to.equal(undefined);
    expect((await known.command({ ping: 1, $db: 'admin' }))?.body).to.include({ ok: 1 });
    for (const each of [known, ...crowd]) each.close();
  });

  it('admits who proves to know the password, once asked or in a hello', async () => {
    const { payload } = (await send(start()))!;
    expect(await send(finish(payload, SECRET))).to.include({ ok: 1, done: true });
    expect(await send({ find: 'keys' })).to.include({ ok: 1 });
    expect((await send({ connectionStatus: 1 }))?.authInfo.authenticatedUsers).to.deep.equal([
      { user: 'annals', db: 'admin' },
    ]);

    const other = await stranger(mongo.server.port);
    const guess = { ...start(), db: 'admin' };
    const hello = {
      hello: 1,
      saslSupportedMechs: 'admin.annals',
      speculativeAuthenticate: guess,
      $db: 'admin',
    };
    const { saslSupportedMechs, speculativeAuthenticate } = (await other.command(hello))!.body;
    expect(saslSupportedMechs).to.deep.equal(['SCRAM-SHA-256']);
    await other.command({ ...finish(speculativeAuthenticate.payload, SECRET), $db: 'admin' });
    expect((await other.command({ find: 'keys', $db: 'admin' }))?.body).to.include({ ok: 1 });
    other.close();
  });

  it('tells who does not know the password nothing, also not with an earlier answer', async () => {
    const { payload } = (await send(start()))!;
    const good = finish(payload, SECRET);
    expect(await send(finish(payload, 'guess'))).to.include({ code: 18, codeName: 'AuthenticationFailed' });
    // A conversation is over with its first wrong word, and each has a nonce of its own.
    expect(await send(good)).to.include({ code: 17 });
    await send(start());
    expect(await send(good)).to.include({ code: 18 });
    expect(await send({ find: 'keys' })).to.include({ code: 13 });
  });

  it('refuses proofs that are cut, empty, or for a nonce of the client alone', async () => {
    for (const change of [
      (text: string) => text.slice(0, -4),
      (text: string) => text.replace(/p=.*/, 'p='),
      (text: string) => text.replace(/r=[^,]*/, `r=${NONCE}`),
      () => '',
    ]) {
      const { payload } = (await send(start()))!;
      const final = finish(payload, SECRET);
      const text = change(final.payload.toString('utf8'));
      expect(await send({ ...final, payload: new Binary(Buffer.from(text)) })).to.include({ code: 18 });
      expect(await send({ find: 'keys' })).to.include({ code: 13 });
    }
  });

  it('refuses other mechanisms, users, databases and malformed beginnings', async () => {
    expect(await send(start({ mechanism: 'PLAIN' }))).to.include({ code: 334 });
    expect(await send(start({ payload: 'text' }))).to.include({ code: 14 });
    expect(await send(start({ options: {} }))).to.include({ code: 2 });
    expect(await send(start(), 'test')).to.include({ code: 18 });
    for (const text of ['', 'n,,', `n,,n=root,r=${NONCE}`, 'n,,n=annals,r=short', `y,,n=annals,r=${NONCE}`])
      expect(await send(start({}, text)), text).to.include({ code: 18 });
    expect(await send({ saslContinue: 1, conversationId: 1, payload: new Binary() })).to.include({
      code: 17,
    });
    const { speculativeAuthenticate, ok } = (await send({
      hello: 1,
      speculativeAuthenticate: start({}, `n,,n=root,r=${NONCE}`),
    }))!;
    expect({ speculativeAuthenticate, ok }).to.deep.equal({ speculativeAuthenticate: undefined, ok: 1 });
  });
});
