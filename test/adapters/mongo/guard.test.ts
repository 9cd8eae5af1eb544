/** What becomes of a call to MongoDB whose connection is cut: "not now", however the driver puts it. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { expect } from 'chai';
import type { Db } from 'mongodb';
import { connectMongo } from '../../../adapters/mongo/client.js';
import { Unavailable } from '../../../application/ports.js';
import { rejection } from '../../support/eventstore-client.js';
import { type MongoServer, mongoServer } from '../../support/mongo.js';

/** More than sockets take in one go, so that the driver waits while it writes. */
const LARGE = 'x'.repeat(12 * 1024 * 1024);

describe('a connection to MongoDB', function () {
  this.timeout(20_000);
  let server: MongoServer;
  let resetting: Server;
  let cuts = 0;
  let mongo: Awaited<ReturnType<typeof connectMongo>>;
  let models: Db;

  before(async () => {
    server = await mongoServer();
    const url = new URL(server.url);
    const [port, host] = [Number(url.port), url.hostname];
    resetting = createServer((client) => {
      const upstream = connect(port, host);
      for (const socket of [client, upstream]) socket.on('error', () => {});
      client.once('close', () => upstream.destroy());
      upstream.once('close', () => client.destroy());
      upstream.pipe(client);
      client.on('data', (chunk) => {
        if (!chunk.includes('cut me here')) return void upstream.write(chunk);
        cuts++;
        client.resetAndDestroy();
      });
    }).listen(0, '127.0.0.1');
    await once(resetting, 'listening');
    url.port = String((resetting.address() as AddressInfo).port);
    url.searchParams.set('directConnection', 'true');
    url.searchParams.delete('replicaSet');
    mongo = await connectMongo(url.href, 'guarded');
    models = mongo.models;
  });
  after(async () => {
    await mongo?.close();
    resetting?.close();
    await server?.stop();
  });

  it('that is cut in the middle of a large write is one that is away', async () => {
    const writing = models.collection('rows').insertOne({ mark: 'cut me here', LARGE });
    expect(await rejection(writing)).to.be.instanceOf(Unavailable);
    expect(cuts).to.be.greaterThan(0);
  });
});
