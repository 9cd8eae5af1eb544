/** Tests authentication: without the password, clients can do little more than say hello. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { Binary, type Document, MongoClient } from 'mongodb';
import { isReal } from '../../support/mongo.js';
import { fixture } from '../../support/mongo-fixture.js';
import {
  clientFinal,
  connectUnauthenticated,
  opMsg,
  type RawClient,
  rawClient,
  SECRET,
} from '../../support/raw-client.js';

describe('MongoDB: authentication', () => {
  // The real server may run without authentication.
  if (isReal) return;
  const mongo = fixture();
  let raw: RawClient;
  beforeEach(async () => {
    raw = await connectUnauthenticated(mongo.server.port);
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

  it('answers hello and similar commands without authentication', async () => {
    for (const command of ['hello', 'isMaster', 'ping'])
      expect(await send({ [command]: 1 }), command).to.include({ ok: 1 });
  });

  const REFUSED: Document[] = [
    { find: 'keys' },
    { insert: 'keys', documents: [{ _id: 1 }] },
    { update: 'keys', updates: [{ q: {}, u: { $set: { a: 1 } }, multi: true }] },
    { delete: 'keys', deletes: [{ q: {}, limit: 0 }] },
    { findAndModify: 'keys', remove: true },
    { aggregate: 'keys', pipeline: [], cursor: {} },
    { getMore: 1, collection: 'keys' },
    { listCollections: 1 },
    { dropDatabase: 1 },
    { serverStatus: 1 },
  ];
  for (const command of REFUSED)
    it(`refuses ${Object.keys(command)[0]} without authentication`, async () => {
      expect(await send(command)).to.include({ ok: 0, code: 13, codeName: 'Unauthorized' });
    });

  it('ignores unauthenticated messages that expect no answer', async () => {
    const name = mongo.collection().collectionName;
    raw.send(opMsg({ insert: name, documents: [{ _id: 1 }], $db: mongo.db.databaseName }, 2));
    expect(await send({ ping: 1 })).to.include({ ok: 1 });
    expect(await mongo.db.collection(name).countDocuments()).to.equal(0);
  });

  it('accepts long messages only after authentication', async () => {
    expect(await send({ ping: 1, padding: 'x'.repeat(20_000) })).to.equal(undefined);
    raw = await connectUnauthenticated(mongo.server.port);
    const { payload } = (await send(start()))!;
    await send(finish(payload, SECRET));
    expect(await send({ ping: 1, padding: 'x'.repeat(20_000) })).to.include({ ok: 1 });
  });

  it('closes the oldest of many unauthenticated connections, but none of a driver', async () => {
    const { server } = mongo;
    const client = new MongoClient(server.url);
    const failures: unknown[] = [];
    const recordFailure = (event: unknown) => failures.push(event);
    client.on('serverHeartbeatFailed', recordFailure).on('connectionPoolCleared', recordFailure);
    // The driver watches the server on a connection that never authenticates.
    const watching = once(client, 'serverHeartbeatSucceeded');
    await client.db('admin').command({ ping: 1 });
    await watching;
    const unauthenticatedClients: RawClient[] = [];
    for (let count = 0; count < 150; count++) unauthenticatedClients.push(await connectUnauthenticated(server.port));
    expect(await unauthenticatedClients[0]!.receive()).to.equal(undefined);
    expect((await unauthenticatedClients.at(-1)!.command({ ping: 1, $db: 'admin' }))?.body).to.include({ ok: 1 });
    const { connections } = await client.db('admin').command({ serverStatus: 1 });
    expect(connections.current).to.be.below(120);
    expect(failures).to.deep.equal([]);
    for (const each of unauthenticatedClients) each.close();
    await client.close();
  });

  it('admits clients with the password while others connect and disconnect without it', async () => {
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

  it('keeps an authenticated connection, regardless of the client name', async () => {
    const known = await rawClient(mongo.server.port);
    const unauthenticatedClients: RawClient[] = [];
    for (let count = 0; count < 120; count++)
      unauthenticatedClients.push(await connectUnauthenticated(mongo.server.port));
    expect(await unauthenticatedClients[0]!.receive()).to.equal(undefined);
    expect((await known.command({ ping: 1, $db: 'admin' }))?.body).to.include({ ok: 1 });
    for (const each of [known, ...unauthenticatedClients]) each.close();
  });

  it('accepts a proof of the password, with saslStart or in a hello', async () => {
    const { payload } = (await send(start()))!;
    expect(await send(finish(payload, SECRET))).to.include({ ok: 1, done: true });
    expect(await send({ find: 'keys' })).to.include({ ok: 1 });

    const other = await connectUnauthenticated(mongo.server.port);
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

  it('rejects wrong and replayed proofs', async () => {
    const { payload } = (await send(start()))!;
    const good = finish(payload, SECRET);
    expect(await send(finish(payload, 'guess'))).to.include({ code: 18, codeName: 'AuthenticationFailed' });
    // A conversation ends at the first wrong message, and each has its own nonce.
    expect(await send(good)).to.include({ code: 17 });
    await send(start());
    expect(await send(good)).to.include({ code: 18 });
    expect(await send({ find: 'keys' })).to.include({ code: 13 });
  });

  it('refuses proofs that are truncated, empty, or use only the client nonce', async () => {
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

  it('refuses other mechanisms, users and databases, and malformed first messages', async () => {
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
