/** The live feed of a node: delivery, cache invalidation, and undecryptable events. */
import { randomUUID } from 'node:crypto';
import { eventually } from '@annals/engines/testing/condition.js';
import { type Servers, silentLogger, startServers } from '@annals/engines/testing/engines.js';
import { jsonEvent } from '@eventstore/db-client';
import { expect } from 'chai';
import {
  type DecryptEvent,
  type Position,
  type RevealedEvent,
  UnavailableError,
} from '../../../application/ports/index.js';
import type { EventPreparation, LiveEvent } from '../../../application/subscription/live-feed.js';
import { runLiveFeed } from '../../../application/subscription/live-feed.js';
import type { Kernel } from '../../../bin/node/kernel.js';
import { box, context, startToys, type ToyPut, toys } from '../../support/toy-service.js';

describe('the live feed', () => {
  let servers: Servers;
  let kernel: Kernel;
  let stop: AbortController;
  let feeds: { stopped: Promise<void> }[];
  let begun: Position;
  let id: string;
  let stream: string;

  before(async () => {
    servers = await startServers();
  });
  after(() => servers?.stop());
  beforeEach(async () => {
    kernel = await startToys(servers, `test_${randomUUID().slice(0, 8)}`);
    begun = await kernel.head();
    stop = new AbortController();
    feeds = [];
    id = randomUUID();
    stream = `toys.box-${id}`;
    await kernel.vault.create(stream);
  });
  afterEach(async () => {
    stop.abort();
    await Promise.all(feeds.map(({ stopped }) => stopped));
    await kernel.mongo.models.dropDatabase();
    await kernel.close();
  });

  const put = (toy: string, more = {}, each = kernel) =>
    each.handle(box, stream, { box: id, toy, note: `note on ${toy}`, ...more }, context());

  /** Follows the log until the test ends; `delivered` resolves with an event of the given type. */
  function follow(each: Kernel, prepare?: EventPreparation) {
    const events: LiveEvent<typeof toys>[] = [];
    let woken = () => {};
    const feed = runLiveFeed({
      ...each,
      saved: each.windows,
      catalogs: [toys],
      windows: new Map([['toys', { horizon: begun, from: begun }]]),
      begun,
      subscriptions: new Map([
        [
          'toys',
          [
            (event) => {
              events.push(event as LiveEvent<typeof toys>);
              woken();
            },
          ],
        ],
      ]),
      ...(prepare && { preparations: new Map([['toys', prepare]]) }),
      switched: () => {},
      logger: silentLogger,
      signal: stop.signal,
    });
    feeds.push(feed);
    const delivered = async (type: string): Promise<LiveEvent<typeof toys>> => {
      for (;;) {
        const found = events.find((event) => event.stream === stream && event.type === type);
        if (found) return found;
        await new Promise<void>((resolve) => {
          woken = resolve;
        });
      }
    };
    return { ...feed, events, delivered };
  }

  it('makes a node forget a stream that another node erased', async () => {
    const other = await startToys(servers, kernel.mongo.models.databaseName);
    const { delivered } = follow(other);
    await put('bear');
    expect((await other.aggregates.load(box, stream)).state.notes).to.deep.equal(['note on bear']);
    await kernel.vault.destroy(stream);
    await put('', { erase: true });
    await delivered('NotesErased');
    expect((await other.aggregates.load(box, stream)).state.notes).to.deep.equal(['erased']);
    stop.abort();
    await feeds[0]?.stopped;
    await other.close();
  });

  it('makes a node reload a cached stream that another node appended to', async () => {
    const other = await startToys(servers, kernel.mongo.models.databaseName);
    const { events } = follow(other);
    await put('bear', {}, other);
    await put('ball');
    await eventually(() => events.filter((event) => event.stream === stream).length === 2);
    expect((await other.aggregates.load(box, stream)).state.toys).to.deep.equal(['bear', 'ball']);
    stop.abort();
    await feeds[0]?.stopped;
    await other.close();
  });

  it('calls handlers once what they need has been prepared, in log order, and retries until it is', async () => {
    const prepared: string[] = [];
    let failures = 2;
    const { events, status, stopped } = follow(kernel, async (event) => {
      if (event.stream !== stream) return;
      if (failures-- > 0) throw new UnavailableError('the store is away');
      expect(events.filter((each) => each.stream === stream)).to.have.length(prepared.length);
      prepared.push(event.type);
    });
    await put('bear');
    await eventually(() => status() === 'waiting');
    expect(events.filter((event) => event.stream === stream)).to.deep.equal([]);
    await put('ball');
    await eventually(() => events.filter((event) => event.stream === stream).length === 2);
    expect(prepared).to.deep.equal(['ToyPut', 'ToyPut']);
    failures = Number.POSITIVE_INFINITY;
    await put('car');
    await eventually(() => status() === 'waiting');
    stop.abort();
    await stopped;
    expect(events.filter((event) => event.stream === stream)).to.have.length(2);
  });

  /** Appends an event that is not encrypted. */
  const damage = () => {
    const data = { box: id, toy: 'ghost', secret: 'bm90IHNlYWxlZCBieSBhbnlib2R5IGhlcmUgYXQgYWxs' };
    return kernel.client.appendToStream(stream, [jsonEvent({ type: 'toys.ToyPut.v1', data })]);
  };

  it('delivers a corrupt event as erased, counts it once, and continues', async () => {
    await damage();
    await put('bear');
    const { ready, delivered, events, status } = follow(kernel);
    await ready;
    await delivered('ToyPut');
    const received = events.filter((event) => event.stream === stream) as RevealedEvent<ToyPut>[];
    expect(received.map(({ erased, data }) => [erased, data.secret.note])).to.deep.equal([
      [true, 'erased'],
      [false, 'note on bear'],
    ]);
    expect(status()).to.equal('live');
    expect((await kernel.aggregates.reload(box, stream)).state.notes).to.deep.equal(['erased', 'note on bear']);
    expect(kernel.undecryptableCount()).to.equal(1);
  });

  it('delivers events of a lost key as erased and counts them, but not those of a destroyed key', async () => {
    await put('bear');
    await kernel.mongo.keys.collection<{ _id: string }>('keys').deleteOne({ _id: stream });
    const restored = await startToys(servers, kernel.mongo.models.databaseName);
    const { delivered } = follow(restored);
    expect((await delivered('ToyPut')).erased).to.equal(true);
    expect(restored.undecryptableCount()).to.equal(1);

    await restored.vault.destroy(stream);
    const after = await startToys(servers, kernel.mongo.models.databaseName);
    const { delivered: deliveredAfter } = follow(after);
    expect((await deliveredAfter('ToyPut')).erased).to.equal(true);
    expect(after.undecryptableCount()).to.equal(0);
    stop.abort();
    await Promise.all(feeds.map(({ stopped }) => stopped));
    await Promise.all([restored.close(), after.close()]);
  });

  it('delivers events encrypted with another key as erased', async () => {
    await put('bear');
    await kernel.mongo.keys.collection<{ _id: string }>('keys').deleteOne({ _id: stream });
    const restored = await startToys(servers, kernel.mongo.models.databaseName);
    await restored.vault.create(stream);
    expect((await follow(restored).delivered('ToyPut')).erased).to.equal(true);
    expect(restored.undecryptableCount()).to.equal(1);
    stop.abort();
    await feeds[0]?.stopped;
    await restored.close();
  });

  it('waits while a key cannot be read, and reports it in its status', async () => {
    await put('bear');
    let away = true;
    let signalAttempt = () => {};
    const attempted = new Promise<void>((resolve) => {
      signalAttempt = resolve;
    });
    const decryptEvent: DecryptEvent = async (...event) => {
      if (!away) return kernel.decryptEvent(...event);
      signalAttempt();
      throw new UnavailableError('the key store is away');
    };
    const { delivered, status, events } = follow({ ...kernel, decryptEvent, decryptLiveEvent: decryptEvent });
    await attempted;
    await new Promise(setImmediate);
    expect([status(), events.filter((event) => event.stream === stream)]).to.deep.equal(['waiting', []]);
    away = false;
    expect((await delivered('ToyPut')).erased).to.equal(false);
  });

  it('is live again when the key becomes available, even without further events', async () => {
    let away = false;
    let signalAttempt = () => {};
    const attempted = new Promise<void>((resolve) => {
      signalAttempt = resolve;
    });
    const decryptEvent: DecryptEvent = async (...event) => {
      if (!away) return kernel.decryptEvent(...event);
      signalAttempt();
      throw new UnavailableError('the key store is away');
    };
    const { ready, delivered, status } = follow({ ...kernel, decryptEvent, decryptLiveEvent: decryptEvent });
    await ready;
    away = true;
    await put('bear');
    await attempted;
    await new Promise(setImmediate);
    expect(status()).to.equal('waiting');
    away = false;
    await delivered('ToyPut');
    await new Promise(setImmediate);
    expect(status()).to.equal('live');
  });
});
