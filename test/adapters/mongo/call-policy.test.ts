/** MongoDB calls on a cut connection: always UnavailableError, in every form that the driver reports. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { rejection } from '@annals/engines/testing/eventstore-client.js';
import { type MongoServer, mongoServer } from '@annals/engines/testing/mongo.js';
import { expect } from 'chai';
import {
  type Db,
  type FindCursor,
  Long,
  MongoBulkWriteError,
  MongoClient,
  MongoClientClosedError,
  MongoError,
  MongoErrorLabel,
  MongoExpiredSessionError,
  MongoNetworkError,
  MongoNetworkTimeoutError,
  MongoNotConnectedError,
  MongoOperationTimeoutError,
  MongoServerClosedError,
  MongoServerError,
  MongoTopologyClosedError,
} from 'mongodb';
import { callServer, withCallPolicy } from '../../../adapters/mongo/call-policy.js';
import { connectMongo } from '../../../adapters/mongo/client.js';
import { STORE_CALL_MS } from '../../../application/concurrency/deadline.js';
import { isTransient, StoreFullError } from '../../../application/ports/errors.js';
import { UnavailableError } from '../../../application/ports/index.js';
import { fakeClock, useFakeTimers } from '../../support/fake-clock.js';

/** More than sockets buffer, so that the driver waits while writing. */
const LARGE = 'x'.repeat(12 * 1024 * 1024);

describe('a MongoDB connection', function () {
  this.timeout(120_000);
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

  it('cut in the middle of a large write counts as unavailable', async () => {
    const writing = models.collection('rows').insertOne({ mark: 'cut me here', LARGE });
    expect(await rejection(writing)).to.be.instanceOf(UnavailableError);
    expect(cuts).to.be.greaterThan(0);
  });
});

describe('a MongoDB error', () => {
  const serverError = (code: number, labels: readonly string[] = []) =>
    new MongoServerError({ message: `error ${code}`, code, errorLabels: [...labels] });
  const named = (name: string) =>
    Object.defineProperty(new MongoError('of the pool'), 'name', { value: name }) as Error;
  /** As a bulk write wraps its error. */
  const bulk = (error: object) => new MongoBulkWriteError(error as never, {} as never);
  const meant = (error: unknown) => rejection(callServer(Promise.reject(error), 1000));

  it('means "not now" when the server is away, stepping down or busy', async () => {
    const away = [
      new MongoNetworkError('connection closed'),
      new MongoNetworkTimeoutError('timed out'),
      new MongoOperationTimeoutError('timed out'),
      new MongoTopologyClosedError('closed'),
      new MongoServerClosedError('closed'),
      new MongoNotConnectedError('closed'),
      new MongoClientClosedError(),
      new MongoExpiredSessionError('ended'),
      named('MongoWaitQueueTimeoutError'),
      named('MongoPoolClosedError'),
      // InterruptedAtShutdown, PrimarySteppedDown, NotWritablePrimary, MaxTimeMSExpired
      ...[11600, 189, 10107, 50].map((code) => serverError(code)),
      serverError(1, [MongoErrorLabel.RetryableWriteError]),
      bulk(new MongoNetworkError('connection closed')),
      bulk(serverError(10107)),
      Object.assign(new Error('write EPIPE'), { syscall: 'write' }),
      ...(await refusedBySockets()),
    ];
    for (const cause of away) {
      const error = await meant(cause);
      expect(error, String(cause)).to.be.instanceOf(UnavailableError).with.property('cause', cause);
      expect(error).to.have.property('message', 'MongoDB does not answer');
    }
  });

  it('means "not now", without an immediate retry, on a full disk', async () => {
    for (const cause of [serverError(14031), bulk(serverError(14031))]) {
      const error = await meant(cause);
      expect(error).to.be.instanceOf(StoreFullError).with.property('cause', cause);
      expect(error).to.be.instanceOf(UnavailableError);
      expect(isTransient(error)).to.equal(false);
    }
  });

  it('is passed on when it is a refusal or a bug', async () => {
    const duplicate = serverError(11000);
    for (const error of [
      duplicate,
      serverError(13),
      new MongoError('of another kind'),
      bulk({ message: 'duplicate', code: 11000, writeErrors: [] }),
      bulk(duplicate),
      new TypeError('a bug'),
      { syscall: 'write' },
    ])
      expect(await meant(error)).to.equal(error);
  });

  it('is awaited for the time of a call, or longer for commands that scan everything', async () => {
    const time = fakeClock();
    const realTimers = useFakeTimers(time);
    try {
      const silent = () => new Promise<never>(() => {});
      const names = ['findOne', 'createIndex', 'createIndexes', 'drop', 'dropDatabase'] as const;
      const calls = withCallPolicy(
        Object.fromEntries(names.map((name) => [name, silent])) as Record<(typeof names)[number], typeof silent>,
      );
      const outcomes: string[] = [];
      for (const name of names) calls[name]().catch(({ message }: Error) => outcomes.push(`${name}: ${message}`));
      const after = async (ms: number) => {
        time.pass(ms);
        await new Promise(setImmediate);
        return outcomes.splice(0);
      };
      expect(await after(STORE_CALL_MS - 1)).to.deep.equal([]);
      expect(await after(1)).to.deep.equal([`findOne: MongoDB did not answer within ${STORE_CALL_MS} ms`]);
      expect(await after(59_999 - STORE_CALL_MS)).to.deep.equal([]);
      expect(await after(1)).to.deep.equal(
        names.slice(1).map((name) => `${name}: MongoDB did not answer within 60000 ms`),
      );
    } finally {
      realTimers();
    }
  });

  describe('a list read in batches', () => {
    /** Makes a cursor return these batches; `takes` delays each one. */
    const batchesOf = (cursor: FindCursor, batches: readonly object[][], takes: () => Promise<void>) => {
      const left = [...batches];
      let closed = 0;
      let batch: object[] = [];
      Object.assign(cursor, {
        hasNext: async () => {
          await takes();
          batch = left.shift() ?? [];
          return batch.length > 0;
        },
        readBufferedDocuments: () => batch,
        close: async () => void closed++,
      });
      return { list: () => withCallPolicy(cursor).toArray(), closed: () => closed };
    };
    const cursor = () => new MongoClient('mongodb://127.0.0.1:1').db('any').collection('rows').find();
    const BATCHES = [[{ _id: 1 }, { _id: 2 }], [{ _id: 3 }], [{ _id: 4 }]];
    let time: ReturnType<typeof fakeClock>;
    let realTimers: () => void;
    const { now } = performance;
    let passed = 0;
    beforeEach(() => {
      time = fakeClock();
      realTimers = useFakeTimers(time);
      passed = 0;
      performance.now = () => passed;
    });
    afterEach(() => {
      realTimers();
      performance.now = now;
    });
    const taking = (ms: number) => async () => {
      await undefined;
      passed += ms;
      time.pass(ms);
    };

    it('waits the time of a call for each batch', async () => {
      const { list, closed } = batchesOf(cursor(), BATCHES, taking(1900));
      expect(4 * 1900).to.be.greaterThan(STORE_CALL_MS);
      expect(await list()).to.deep.equal(BATCHES.flat());
      expect(closed()).to.equal(1);
    });

    it('is given up when a batch is late or all of them take longer than a request', async () => {
      const late = batchesOf(cursor(), BATCHES, taking(STORE_CALL_MS));
      expect(await rejection(late.list())).to.be.instanceOf(UnavailableError);
      const slow = batchesOf(cursor(), BATCHES, taking(3000));
      expect(await rejection(slow.list())).to.be.instanceOf(UnavailableError);
      expect([late.closed(), slow.closed()]).to.deep.equal([1, 1]);
    });
  });

  it('waits for each pulled batch in turn, and leaves other values unchanged', async () => {
    const cut = new MongoNetworkError('connection closed');
    const stream = { next: () => Promise.reject(cut), [Symbol.asyncIterator]: () => stream };
    const at = Long.ONE;
    const target = withCallPolicy({
      name: 'rows',
      watch: () => stream,
      self() {
        return this;
      },
      at: () => at,
      nothing: () => null,
      text: () => 'text',
      later: async () => stream,
    });
    expect(await rejection(target.watch().next())).to.be.instanceOf(UnavailableError);
    expect(target.self()).to.equal(target);
    expect([target.name, target.at(), target.nothing(), target.text()]).to.deep.equal(['rows', at, null, 'text']);
    expect(target.at()).to.equal(at);
  });
});

/** Socket errors after the peer has ended, and after the socket is destroyed. */
async function refusedBySockets(): Promise<readonly Error[]> {
  const ending = createServer((peer) => peer.end()).listen(0, '127.0.0.1');
  await once(ending, 'listening');
  const socket = connect((ending.address() as AddressInfo).port, '127.0.0.1');
  const serverError: Error[] = [];
  socket.on('error', (error) => serverError.push(error)).resume();
  await once(socket, 'end');
  const written = () => new Promise<unknown>((resolve) => socket.write('too late', resolve));
  await written();
  socket.destroy();
  const destroyed = await written();
  ending.close();
  return [...serverError, destroyed as Error];
}
