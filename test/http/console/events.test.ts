/** The event browser of the operations port, over an event store with toys. */
import { randomUUID } from 'node:crypto';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { createEventBrowser, createStoredEventReader } from '../../../adapters/eventstore/browse-events.js';
import { eventRoutes } from '../../../adapters/http/console/events.js';
import { operationsPolicy } from '../../../adapters/http/operations.js';
import type { Kernel } from '../../../bin/node/kernel.js';
import { httpSpec } from '../../support/http-spec.js';
import { startToys } from '../../support/toy-service.js';
import { serveToys, type Toys } from '../toy-http-service.js';

interface Listed {
  readonly position: string;
  readonly stream: string;
  readonly revision: string;
  readonly type: string;
  readonly depth?: number;
}

interface Page {
  readonly events: readonly Listed[];
  readonly scanned: number;
  readonly next?: string;
}

/** How many events a request looks at. */
const MAX_SCANNED = 250;

describe('event browser of the operations port', function () {
  this.timeout(60_000);
  let servers: Servers;
  let kernel: Kernel;
  let served: Toys;
  const streams = { first: `toys.box-${randomUUID()}`, second: `toys.box-${randomUUID()}` };
  const http = httpSpec(() => served.url);
  const pageOf = (query = '') => http.given('GET', `/events${query}`) as unknown as Promise<Page>;

  before(async () => {
    servers = await startServers();
    kernel = await startToys(servers, `test_${randomUUID().slice(0, 8)}`);
    const deps = {
      browser: createEventBrowser(kernel.client, MAX_SCANNED),
      eventAt: createStoredEventReader(kernel.client),
    };
    const types = new Map([['toys', ['ToyPut', 'NotesErased']]]);
    served = await serveToys(eventRoutes({ ...deps, types }), operationsPolicy('1.0.0'));
    for (const stream of Object.values(streams)) await kernel.vault.create(stream);
    const [erased, put] = [{ type: 'NotesErased', data: { box: 'a' } }, (toy: string) => toyPut(streams.first, toy)];
    const cause = randomUUID();
    const by = (id: string, causation?: string) =>
      ({ $correlationId: 'request-1', ...(causation && { $causationId: causation }), actor: id }) as const;
    await kernel.log.append(streams.first, 'none', [
      { id: cause, event: put('bear'), metadata: by('ada') },
      { id: randomUUID(), event: put('ball'), metadata: { $correlationId: 'request-2' } },
    ]);
    await kernel.log.append(streams.second, 'none', [
      { id: randomUUID(), event: erased, metadata: by('bob', cause) },
      { id: randomUUID(), event: toyPut(streams.second, 'kite'), metadata: {} },
    ]);
  });
  after(async () => {
    await served?.close();
    await kernel?.mongo.models.dropDatabase();
    await kernel?.close();
    await servers?.stop();
  });

  const placesOf = ({ events }: Pick<Page, 'events'>) => events.map(({ stream, revision }) => `${stream}@${revision}`);
  const all = [`${streams.second}@1`, `${streams.second}@0`, `${streams.first}@1`, `${streams.first}@0`];

  it('lists the newest first, page by page, without data', async () => {
    const whole = await pageOf();
    expect(placesOf(whole)).to.deep.equal(all);
    expect(whole.next).to.equal(undefined);
    expect(Object.keys(whole.events[3] ?? {})).to.have.members([
      'position',
      'revision',
      'recordedAt',
      'id',
      'stream',
      'type',
      'actor',
      'correlationId',
    ]);
    const first = await pageOf('?limit=3');
    const second = await pageOf(`?limit=3&before=${first.next}`);
    expect([...placesOf(first), ...placesOf(second)]).to.deep.equal(all);
    expect(second.next).to.equal(undefined);
  });

  it('filters by event type, service and stream', async () => {
    expect(placesOf(await pageOf('?type=NotesErased&service=toys'))).to.deep.equal([`${streams.second}@0`]);
    expect(placesOf(await pageOf(`?stream=${streams.first}`))).to.deep.equal(all.slice(2));
    const newest = await pageOf(`?stream=${streams.first}&limit=1`);
    expect(placesOf(newest)).to.deep.equal([all[2]]);
    expect(placesOf(await pageOf(`?stream=${streams.first}&limit=1&before=${newest.next}`))).to.deep.equal([all[3]]);
    expect(placesOf(await pageOf(`?stream=${streams.first}&type=NotesErased`))).to.deep.equal([]);
  });

  it('says what is wrong with a query', async () => {
    const refused = (query: string, status: number, error: string) =>
      http.when('GET', `/events?${query}`).thenRefused(status, { error: new RegExp(error) });
    await refused('service=nonsense', 400, 'service must be one of toys');
    await refused('type=Nonsense', 400, 'type is not the name of an event type');
    await refused('before=x', 400, '[Bb]efore');
    await refused('limit=0', 400, '[Ll]imit');
    for (const before of ['3', '9223372036854775807', '9999999999999999999'])
      await refused(`before=${before}`, 400, 'before must be the next of an earlier page');
    await refused('stream=toys.box-nonsense', 404, 'no stream of this name');
    // The store's own, which exists then.
    await kernel.log.time();
    for (const foreign of ['$$annals-time', '$settings', 'chat.roster'])
      await refused(`stream=${encodeURIComponent(foreign)}`, 404, 'no stream of this name');
    const gone = `toys.box-${randomUUID()}`;
    await kernel.log.tombstone(gone);
    await refused(`stream=${gone}`, 404, 'deleted');
  });

  it('shows an event as it is stored, with its sealed part sealed', async () => {
    const [newest] = (await pageOf('?type=ToyPut')).events;
    const event = await http.given('GET', `/events/${newest?.position}`);
    expect(event).to.deep.include({ ...newest, type: 'toys.ToyPut.v1', metadata: {} });
    expect(event.data).to.deep.include({ toy: 'kite' });
    expect(event.data.secret).to.be.a('string');
    expect(JSON.stringify(event)).not.to.include('note of the kite');
    for (const position of ['x', '1', '9223372036854775807', '9'.repeat(19), '9'.repeat(40)])
      await http.when('GET', `/events/${position}`).thenRefused(404);
    // The log begins with events of the store itself.
    for await (const { event } of kernel.client.readAll({ maxCount: 1 }))
      await http.when('GET', `/events/${event?.position?.commit}`).thenRefused(404);
  });

  it('shows events of the same request below the one that caused them', async () => {
    const [ball, bear] = (await pageOf(`?stream=${streams.first}`)).events;
    const [erased] = (await pageOf('?type=NotesErased')).events;
    for (const origin of [bear, erased]) {
      const related = await http.given('GET', `/events/${origin?.position}/related`);
      expect(related).to.deep.include({ correlationId: 'request-1', complete: true });
      expect(placesOf(related as unknown as Page)).to.deep.equal([`${streams.first}@0`, `${streams.second}@0`]);
      expect(related.events.map(({ depth }: Listed) => depth)).to.deep.equal([0, 1]);
    }
    const alone = await http.given('GET', `/events/${ball?.position}/related`);
    expect(placesOf(alone as unknown as Page)).to.deep.equal([`${streams.first}@1`]);
    await http.when('GET', '/events/1/related').thenRefused(404);
  });

  it('looks at a bounded number of events, and continues where it ended', async () => {
    const stream = `toys.box-${randomUUID()}`;
    await kernel.vault.create(stream);
    const bricks = Array.from({ length: 3 * MAX_SCANNED }, () => {
      return { id: randomUUID(), event: toyPut(stream, 'brick'), metadata: {} };
    });
    await kernel.log.append(stream, 'none', bricks);
    const first = await pageOf('?type=NotesErased');
    expect(first.events).to.deep.equal([]);
    expect(first.scanned).to.be.within(MAX_SCANNED, MAX_SCANNED + 100);
    const seen: string[] = [];
    for (let { next } = first; next !== undefined; ) {
      const page = await pageOf(`?type=NotesErased&before=${next}`);
      seen.push(...placesOf(page));
      next = page.next;
    }
    expect(seen).to.deep.equal([`${streams.second}@0`]);
  });
});

const toyPut = (stream: string, toy: string) => ({
  type: 'ToyPut',
  data: { box: stream.slice('toys.box-'.length), toy, secret: { note: `note of the ${toy}` } },
});
