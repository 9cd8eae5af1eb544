/** Server-sent events over HTTP, as a client reads them. */
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { createRelay, type Relay } from '../../../../adapters/realtime/relay/relay.js';
import { openSse } from '../../../../adapters/realtime/relay/sink.js';
import { echo, serveToys, type Toys } from '../../../http/toy-http-service.js';
import { at, type WardEvent, type Wards, wardAudience } from '../../../support/toy-service.js';

const wrote = (text: string): WardEvent => ({ type: 'Wrote', data: { ward: 'w', text } });

/** Reads an event stream until `enough` returns true, or it ends. */
async function readStream(url: string, enough: (text: string) => boolean, headers = {}) {
  const controller = new AbortController();
  const response = await fetch(url, { headers, signal: controller.signal });
  let text = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (enough(text)) break;
  }
  controller.abort();
  const events: EventSourceMessage[] = [];
  createParser({ onEvent: (event) => void events.push(event) }).feed(text);
  return { text, headers: response.headers, events };
}

describe('server-sent events over HTTP', () => {
  let relay: Relay<Wards, WardEvent>;
  let toys: Toys;
  let connected: () => void;
  let next = 1;
  const publish = (event: WardEvent) => relay.publish(at(next++, event));

  beforeEach(async () => {
    next = 1;
    connected = () => {};
    relay = createRelay({ audience: wardAudience, head: async () => 1000n });
    publish({ type: 'Entered', data: { ward: 'w', person: 'ann' } });
    toys = await serveToys([
      echo({
        method: 'GET',
        path: '/events',
        handle: ({ cursor }) => ({
          stream(sink) {
            const after = cursor === undefined ? {} : { after: cursor };
            relay.connect({ keys: ['person:ann'], greeting: { type: 'CONNECTED' }, ...after }, sink);
            connected();
          },
        }),
      }),
      echo({
        method: 'GET',
        path: '/quiet',
        handle: () => ({ stream: (sink) => relay.connect({ keys: ['person:ann'] }, sink) }),
      }),
    ]);
  });
  afterEach(async () => {
    relay.close();
    await toys.close();
  });

  it('are blocks of an id and a single data line', async () => {
    connected = () => {
      publish(wrote('line one\nline two \u2028 end'));
      publish(wrote('again'));
    };
    const { text, headers } = await readStream(`${toys.url}/events`, (sofar) => sofar.includes('again'));
    expect(headers.get('content-type')).to.equal('text/event-stream; charset=utf-8');
    expect(headers.get('cache-control')).to.equal('no-store');
    expect(headers.get('x-accel-buffering')).to.equal('no');
    const json = (text: string) => JSON.stringify({ type: 'Wrote', payload: { ward: 'w', text } });
    expect(text).to.equal(
      `id: 1\ndata: {"type":"CONNECTED"}\n\n` +
        `id: 2\ndata: ${json('line one\nline two \u2028 end')}\n\nid: 3\ndata: ${json('again')}\n\n`,
    );
  });

  it('resume from a cursor in header or query', async () => {
    publish(wrote('missed'));
    publish(wrote('missed too'));
    const enough = (text: string) => /id: 3\ndata: .*\n\n/.test(text);
    const byHeader = await readStream(`${toys.url}/events`, enough, { 'Last-Event-ID': '1' });
    const byQuery = await readStream(`${toys.url}/events?lastEventId=1`, enough);
    for (const { events } of [byHeader, byQuery]) {
      const received = events.map(({ data }) => JSON.parse(data));
      expect(received.map(({ type }) => type)).to.deep.equal(['CONNECTED', 'Wrote', 'Wrote']);
      expect(received[2].payload.text).to.equal('missed too');
    }
  });

  it('start with RESET for an unknown cursor', async () => {
    const enough = (text: string) => text.includes('RESET');
    const { events } = await readStream(`${toys.url}/events`, enough, { 'Last-Event-ID': 'nonsense' });
    expect(events.map(({ data }) => JSON.parse(data).type)).to.deep.equal(['CONNECTED', 'RESET']);
  });

  it('send the cursor in a comment when there are no frames', async () => {
    const { text, events } = await readStream(`${toys.url}/quiet`, (sofar) => sofar.endsWith('\n\n'));
    expect([text, events]).to.deep.equal([':\nid: 1\n\n', []]);
  });

  it('end without a reconnect hint when their authority has ended', async () => {
    connected = () => relay.end('person:ann', { type: 'OVER' });
    const { text } = await readStream(`${toys.url}/events`, () => false);
    expect(text).to.match(/data: {"type":"OVER"}\n\n$/);
    expect(text).not.to.include('retry');
  });

  it('end with a reconnect hint on shutdown', async () => {
    connected = () => relay.close();
    const { text } = await readStream(`${toys.url}/events`, () => false);
    expect(text).to.match(/retry: \d+\n\n$/);
  });

  describe('to a single client', () => {
    let server: Server;
    let client: Socket;
    let response: ServerResponse;

    beforeEach(async () => {
      server = createServer();
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      client = connect((server.address() as AddressInfo).port, '127.0.0.1');
      client.on('error', () => {}).pause();
      client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      [, response] = await once(server, 'request');
    });
    afterEach(() => {
      client.destroy();
      server.close();
    });

    it('end if the client left before they begin', async () => {
      client.destroy();
      await once(response, 'close');
      let over = false;
      openSse(response).onClose(() => {
        over = true;
      });
      expect(over).to.equal(true);
    });

    it('can be cut at once despite unread data', async () => {
      const sink = openSse(response);
      for (let count = 0; count < 200; count++) sink.send({ json: JSON.stringify('x'.repeat(100_000)) });
      expect(sink.buffered()).to.be.greaterThan(1_000_000);
      const closed = once(response, 'close');
      sink.cut();
      await closed;
      expect(response.destroyed).to.equal(true);
    });
  });

  it('do not accumulate for a client that does not read', async () => {
    const socket = connect(toys.port, '127.0.0.1');
    const streaming = new Promise<void>((resolve) => {
      connected = resolve;
    });
    socket.write('GET /events HTTP/1.1\r\nHost: x\r\n\r\n');
    socket.pause();
    await streaming;
    const before = process.memoryUsage.rss();
    for (let i = 0; i < 2000; i++) publish(wrote('x'.repeat(50_000)));
    expect(process.memoryUsage.rss() - before).to.be.below(150 * 1024 * 1024);
    let text = '';
    const reset = new Promise<void>((resolve) => {
      socket.on('data', (chunk) => {
        text = (text + chunk).slice(-1000);
        if (text.includes('id: 2001\ndata: {"type":"RESET"}')) resolve();
      });
    });
    socket.resume();
    await reset;
    socket.destroy();
  });
});
