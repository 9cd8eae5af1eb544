/** An HTTP server: listening, protocol errors and shutdown. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { Sink } from '../../adapters/realtime/relay/sink.js';
import { sendBytes } from '../support/http-spec.js';
import { echo, serveToys as serve, type Toys } from './toy-http-service.js';

describe('HTTP server', () => {
  const servers: Toys[] = [];
  const serveToys: typeof serve = async (...args) => {
    const toys = await serve(...args);
    servers.push(toys);
    return toys;
  };
  // Servers left open by a failed test would keep the process alive.
  after(() => Promise.all(servers.map(({ close }) => close())));

  it("answers invalid HTTP with JSON and the service's headers, and keeps serving", async () => {
    const toys = await serveToys([echo({ method: 'GET', path: '/toys' })], {
      errorBody: ({ error }) => ({ error, code: 'TOY' }),
    });
    const refused = async (bytes: string) => {
      const [head = '', body = ''] = (await sendBytes(toys.url, bytes)).split('\r\n\r\n');
      expect(head, bytes).to.match(/^x-request-id: [\w-]{36}$/im);
      expect(head, bytes).to.match(/^access-control-allow-origin: \*$/im);
      expect(head, bytes).to.match(/^x-content-type-options: nosniff$/im);
      expect(head, bytes).to.match(/^content-type: application\/json/im);
      const { error, code } = JSON.parse(body);
      expect(code, bytes).to.equal('TOY');
      return [Number(/^HTTP\/1\.1 (\d+) /.exec(head)?.[1]), error];
    };
    const headers = 'Host: x\r\nConnection: close\r\n\r\n';
    const notHttp = [400, 'The request is not valid HTTP'];
    const noTarget = [400, 'The target of the request is invalid'];
    expect(await refused('HELLO\r\n\r\n')).to.deep.equal(notHttp);
    expect(await refused(`GET [ HTTP/1.1\r\n${headers}`)).to.deep.equal(notHttp);
    expect(await refused(`GET http://[ HTTP/1.1\r\n${headers}`)).to.deep.equal(noTarget);
    expect(await refused(`OPTIONS http://[ HTTP/1.1\r\n${headers}`)).to.deep.equal(noTarget);
    expect(await refused(`GET http:// HTTP/1.1\r\n${headers}`)).to.deep.equal(noTarget);
    expect(await refused('GET /toys HTTP/1.1\r\nConnection: close\r\n\r\n')).to.deep.equal([
      400,
      'The Host header is missing',
    ]);
    expect(await refused(`GET /toys HTTP/1.1\r\nHost: y\r\n${headers}`)).to.deep.equal([
      400,
      'The request has more than one Host header',
    ]);
    expect(await refused(`GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n${headers}`)).to.deep.equal([
      431,
      'The request header is too large',
    ]);
    expect(await refused(`CONNECT a:1 HTTP/1.1\r\n${headers}`)).to.deep.equal([405, 'CONNECT is not supported']);
    expect((await toys.ask('/toys')).status).to.equal(200);
    await toys.close();
  });

  it('answers HTTP/1.0 without a Host header, and unknown expectations', async () => {
    const toys = await serveToys([echo({ method: 'GET', path: '/toys' })]);
    expect(await sendBytes(toys.url, 'GET /toys HTTP/1.0\r\n\r\n')).to.match(/^HTTP\/1\.1 200 /);
    const request = 'GET /toys HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nConnection: close\r\n\r\n';
    expect(await sendBytes(toys.url, request)).to.match(/^HTTP\/1\.1 200 /);
    await toys.close();
  });

  it('survives clients that disconnect while sending a body', async () => {
    const toys = await serveToys([echo({ path: '/toys', body: { type: 'object' } })]);
    const socket = connect(toys.port, '127.0.0.1');
    const head = 'POST /toys HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"a":';
    socket.write(head, () => socket.destroy());
    await once(socket, 'close');
    expect((await toys.post('/toys', {})).status).to.equal(200);
    await toys.close();
  });

  it('rejects when the address is in use', async () => {
    const toys = await serveToys([]);
    let error: unknown;
    await serveToys([], {}, { port: toys.port }).catch((reason) => {
      error = reason;
    });
    await toys.close();
    expect(error).to.have.property('code', 'EADDRINUSE');
  });

  it('finishes pending requests when closed, then closes connections', async () => {
    let release = () => {};
    let arrived = () => {};
    const requestArrived = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const toys = await serveToys([
      echo({
        method: 'GET',
        path: '/slow',
        async handle() {
          arrived();
          await gate;
          return { status: 200, body: { done: true } };
        },
      }),
    ]);
    const answer = toys.ask('/slow');
    await requestArrived;
    const closed = toys.close();
    release();
    expect((await answer).json).to.deep.equal({ done: true });
    await closed;
    const refused = await toys.ask('/slow').then(
      () => false,
      () => true,
    );
    expect(refused).to.equal(true);
  });

  it('answers the next request of an open connection when closed, and asks to close it', async () => {
    const toys = await serveToys([echo({ method: 'GET', path: '/', handle: () => ({ status: 200, body: {} }) })]);
    const socket = connect(toys.port, '127.0.0.1').setEncoding('latin1');
    const request = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
    socket.write(request);
    expect(String(await once(socket, 'data'))).to.include('Connection: keep-alive');
    const closed = toys.close();
    // It was sent before the client could know.
    socket.write(request);
    const [answer] = await once(socket, 'data');
    expect(answer)
      .to.match(/^HTTP\/1.1 200 /)
      .and.include('Connection: close');
    await once(socket, 'close');
    await closed;
  });

  it('answers the first requests of connections that were opened just before it was closed', async () => {
    const toys = await serveToys([echo({ method: 'GET', path: '/', handle: () => ({ status: 200, body: {} }) })]);
    const sockets = Array.from({ length: 20 }, () => connect(toys.port, '127.0.0.1'));
    const answers = sockets.map((socket) => Promise.race([once(socket, 'data'), once(socket, 'close')]));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    const closed = toys.close();
    await delay(100);
    for (const socket of sockets) socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    for (const [answer] of await Promise.all(answers))
      expect(String(answer)).to.include('200 OK').and.include('Connection: close');
    await closed;
  });

  it('does not wait for idle connections when closed', async () => {
    const toys = await serveToys([]);
    const socket = connect(toys.port, '127.0.0.1');
    await once(socket, 'connect');
    const cut = once(socket, 'close');
    await toys.close();
    await cut;
  }).timeout(3000);

  it('tells streams to reconnect when closed', async () => {
    const sinks: Sink[] = [];
    const toys = await serveToys([
      echo({ method: 'GET', path: '/events', handle: () => ({ stream: (sink) => void sinks.push(sink) }) }),
    ]);
    const response = await fetch(`${toys.url}/events`);
    expect(response.headers.get('content-type')).to.match(/^text\/event-stream/);
    expect(response.headers.get('access-control-allow-origin')).to.equal('*');
    const text = response.text();
    await toys.close();
    expect(await text).to.match(/^retry: \d+\n\n$/);
    expect(sinks).to.have.length(1);
  });

  it('answers HEAD on a stream without opening one', async () => {
    let opened = 0;
    const toys = await serveToys([
      echo({ method: 'GET', path: '/events', handle: () => ({ stream: () => void opened++ }) }),
    ]);
    const response = await fetch(`${toys.url}/events`, { method: 'HEAD' });
    expect(response.headers.get('content-type')).to.match(/^text\/event-stream/);
    await toys.close();
    expect(opened).to.equal(0);
  });

  it("aborts a handler's signal when its client disconnects", async () => {
    let aborted: Promise<unknown> | undefined;
    let arrived = () => {};
    const requestArrived = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const toys = await serveToys([
      echo({
        method: 'GET',
        path: '/long',
        async handle({ signal }) {
          aborted = once(signal, 'abort');
          arrived();
          await aborted;
          return { status: 200 };
        },
      }),
    ]);
    const client = new AbortController();
    const answer = fetch(`${toys.url}/long`, { signal: client.signal }).catch(() => 'left');
    await requestArrived;
    client.abort();
    await aborted;
    expect(await answer).to.equal('left');
    await toys.close();
  });
});
