/** The live feed of a node: what it tells, what it makes the node forget, and what it does not stumble over. */
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
import type { LiveEvent } from '../../../application/subscription/live-feed.js';
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

  /** Runs until the test is over; `told` resolves with an event as soon as it was told. */
  function follow(each: Kernel) {
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
      switched: () => {},
      logger: silentLogger,
      signal: stop.signal,
    });
    feeds.push(feed);
    const told = async (type: string): Promise<LiveEvent<typeof toys>> => {
      for (;;) {
        const found = events.find((event) => event.stream === stream && event.type === type);
        if (found) return found;
        await new Promise<void>((resolve) => {
          woken = resolve;
        });
      }
    };
    return { ...feed, events, told };
  }

  it('makes a node forget what it remembered of a stream that another node has erased', async () => {
    const other = await startToys(servers, kernel.mongo.models.databaseName);
    const { told } = follow(other);
    await put('bear');
    expect((await other.streams.load(box, stream)).state.notes).to.deep.equal(['note on bear']);
    await kernel.vault.destroy(stream);
    await put('', { erase: true });
    await told('NotesErased');
    expect((await other.streams.load(box, stream)).state.notes).to.deep.equal(['erased']);
    stop.abort();
    await feeds[0]?.stopped;
    await other.close();
  });

  it('makes a node look again at a stream that it remembers and another has appended to', async () => {
    const other = await startToys(servers, kernel.mongo.models.databaseName);
    const { events } = follow(other);
    await put('bear', {}, other);
    await put('ball');
    await eventually(() => events.filter((event) => event.stream === stream).length === 2);
    expect((await other.streams.load(box, stream)).state.toys).to.deep.equal(['bear', 'ball']);
    stop.abort();
    await feeds[0]?.stopped;
    await other.close();
  });

  /** An event that nobody has sealed. */
  const damage = () => {
    const data = { box: id, toy: 'ghost', secret: 'bm90IHNlYWxlZCBieSBhbnlib2R5IGhlcmUgYXQgYWxs' };
    return kernel.client.appendToStream(stream, [jsonEvent({ type: 'toys.ToyPut.v1', data })]);
  };

  it('shows a damaged event as erased, tells of it once, and goes on', async () => {
    await damage();
    await put('bear');
    const { ready, told, events, status } = follow(kernel);
    await ready;
    await told('ToyPut');
    const shown = events.filter((event) => event.stream === stream) as RevealedEvent<ToyPut>[];
    expect(shown.map(({ erased, data }) => [erased, data.secret.note])).to.deep.equal([
      [true, 'erased'],
      [false, 'note on bear'],
    ]);
    expect(status()).to.equal('live');
    expect((await kernel.streams.reload(box, stream)).state.notes).to.deep.equal(['erased', 'note on bear']);
    expect(kernel.undecryptableCount()).to.equal(1);
  });

  it('shows what a lost key has sealed as erased and tells of it; a destroyed key is nothing to tell', async () => {
    await put('bear');
    await kernel.mongo.keys.collection<{ _id: string }>('keys').deleteOne({ _id: stream });
    const restored = await startToys(servers, kernel.mongo.models.databaseName);
    const { told } = follow(restored);
    expect((await told('ToyPut')).erased).to.equal(true);
    expect(restored.undecryptableCount()).to.equal(1);

    await restored.vault.destroy(stream);
    const after = await startToys(servers, kernel.mongo.models.databaseName);
    const { told: toldAfter } = follow(after);
    expect((await toldAfter('ToyPut')).erased).to.equal(true);
    expect(after.undecryptableCount()).to.equal(0);
    stop.abort();
    await Promise.all(feeds.map(({ stopped }) => stopped));
    await Promise.all([restored.close(), after.close()]);
  });

  it('shows what was sealed under another key as erased', async () => {
    await put('bear');
    await kernel.mongo.keys.collection<{ _id: string }>('keys').deleteOne({ _id: stream });
    const restored = await startToys(servers, kernel.mongo.models.databaseName);
    await restored.vault.create(stream);
    expect((await follow(restored).told('ToyPut')).erased).to.equal(true);
    expect(restored.undecryptableCount()).to.equal(1);
    stop.abort();
    await feeds[0]?.stopped;
    await restored.close();
  });

  it('waits while a key can not be fetched, and says so', async () => {
    await put('bear');
    let away = true;
    let asked = () => {};
    const asking = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const decryptEvent: DecryptEvent = async (...event) => {
      if (!away) return kernel.decryptEvent(...event);
      asked();
      throw new UnavailableError('the key store is away');
    };
    const { told, status, events } = follow({ ...kernel, decryptEvent });
    await asking;
    await new Promise(setImmediate);
    expect([status(), events.filter((event) => event.stream === stream)]).to.deep.equal(['waiting', []]);
    away = false;
    expect((await told('ToyPut')).erased).to.equal(false);
  });

  it('is live again once it has a key that it waited for, though nothing more comes', async () => {
    let away = false;
    let asked = () => {};
    const asking = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const decryptEvent: DecryptEvent = async (...event) => {
      if (!away) return kernel.decryptEvent(...event);
      asked();
      throw new UnavailableError('the key store is away');
    };
    const { ready, told, status } = follow({ ...kernel, decryptEvent });
    await ready;
    away = true;
    await put('bear');
    await asking;
    await new Promise(setImmediate);
    expect(status()).to.equal('waiting');
    away = false;
    await told('ToyPut');
    await new Promise(setImmediate);
    expect(status()).to.equal('live');
  });
});
