/** The live feed of a node: what it tells, what it makes the node forget, and what it does not stumble over. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { runFeed } from '../../application/feed.js';
import type { RevealedEvent } from '../../application/ports.js';
import type { Kernel } from '../../bin/kernel.js';
import { quiet, type Servers, startServers } from '../support/engines.js';
import { box, context, startToys, toys } from '../support/toys.js';

describe('the live feed', () => {
  let servers: Servers;
  let kernel: Kernel;
  let stop: AbortController;
  let feeds: { stopped: Promise<void> }[];
  let id: string;
  let stream: string;

  before(async () => {
    servers = await startServers();
  });
  after(() => servers?.stop());
  beforeEach(async () => {
    kernel = await startToys(servers, `test_${randomUUID().slice(0, 8)}`);
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
    const events: RevealedEvent[] = [];
    let woken = () => {};
    const feed = runFeed({
      ...each,
      catalogs: [toys],
      from: 'start',
      publish(_, event) {
        events.push(event);
        woken();
      },
      switched: () => {},
      logger: quiet,
      signal: stop.signal,
    });
    feeds.push(feed);
    const told = async (type: string): Promise<RevealedEvent> => {
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
});
