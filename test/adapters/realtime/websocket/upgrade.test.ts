/** WebSocket upgrades: admission, and refusals like any other request. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { createBudgets } from '../../../../adapters/http/server/budgets.js';
import { openapi } from '../../../../adapters/http/server/openapi.js';
import { type Guard, problem } from '../../../../adapters/http/server/policy.js';
import { createBudget } from '../../../../application/concurrency/limiters.js';
import { toyPolicy } from '../../../http/toy-http-service.js';
import { serveTalk, type Talk } from './toy-chat.js';

const HANDSHAKE = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

describe('a WebSocket upgrade', () => {
  let talk: Talk;
  afterEach(() => talk.close());

  /** Everything received until the connection is closed. */
  async function raw(lines: readonly string[], headers: object = {}, body = '') {
    const socket = connect(talk.port, '127.0.0.1');
    await once(socket, 'connect');
    const all = Object.entries({ Host: `127.0.0.1:${talk.port}`, ...headers });
    socket.write(`${lines.join('\r\n')}\r\n${all.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`);
    return text(socket);
  }
  const requestWith = (headers: object, path = '/talk/a', method = 'GET', body = '') =>
    raw([`${method} ${path} HTTP/1.1`], headers, body);
  const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);

  it('is accepted for an admitted caller with any query, and logged', async () => {
    talk = await serveTalk();
    const talker = await talk.open('a?version=2');
    talker.say('hello');
    await eventually(() => expect(talker.received).to.deep.equal([{ type: 'said', text: 'hello' }]));
    await eventually(() => talk.lines.some(({ fields }) => fields.status === 101));
  });

  it('is refused with an ordinary answer (status, headers, body), and the connection ends', async () => {
    talk = await serveTalk();
    const answer = await requestWith({ ...HANDSHAKE, 'X-Stranger': '1', 'X-Request-Id': 'mine' });
    expect(statusOf(answer)).to.equal(401);
    expect(answer)
      .to.match(/^X-Request-Id: mine\r$/m)
      .and.match(/^X-Content-Type-Options: nosniff\r$/m);
    expect(answer)
      .to.match(/^Access-Control-Allow-Origin: \*\r$/m)
      .and.match(/^Connection: close\r$/m);
    expect(answer).to.match(/\r\n\r\n\{"error":"Strangers may not"\}$/);
    expect(talk.speakers).to.have.length(0);
  });

  it("passes the service's guard, and fails for unknown paths and other methods like every request", async () => {
    const guard: Guard = ({ headers }) => (headers.host?.startsWith('127.') ? undefined : problem(403, 'Not you'));
    talk = await serveTalk({ policy: { guard } });
    expect(statusOf(await requestWith({ ...HANDSHAKE, Host: 'evil.example' }))).to.equal(403);
    expect(statusOf(await requestWith(HANDSHAKE, '/elsewhere'))).to.equal(404);
    expect(statusOf(await requestWith(HANDSHAKE, '/talk/a', 'PUT'))).to.equal(405);
    expect(statusOf(await requestWith({ ...HANDSHAKE, 'X-Request-Id': 'a'.repeat(300) }, '/talk/a%ZZ'))).to.equal(404);
  });

  it('is required where the route needs one, and must be valid', async () => {
    talk = await serveTalk();
    const none = await talk.ask('/talk/a');
    expect([none.status, none.json.error]).to.deep.equal([426, 'This route is a WebSocket; send an upgrade request']);
    expect(none.headers.get('sec-websocket-version')).to.equal('13');
    expect(none.headers.get('connection')).to.equal('Upgrade');
    expect(await requestWith({ Connection: 'close' })).to.match(/^Connection: close, Upgrade\r$/m);
    for (const [status, change] of [
      [426, { 'Sec-WebSocket-Version': '8' }],
      [400, { 'Sec-WebSocket-Key': 'short' }],
      [400, { 'Content-Length': '3' }],
    ] as const)
      expect(statusOf(await requestWith({ ...HANDSHAKE, ...change })), JSON.stringify(change)).to.equal(status);
    expect(talk.speakers).to.have.length(0);
  });

  const H2C = {
    Connection: 'Upgrade, HTTP2-Settings, keep-alive',
    Upgrade: 'h2c',
    'HTTP2-Settings': 'AAMAAABkAAQAoAAA',
  };
  const JSON_BODY = { ...H2C, 'Content-Type': 'application/json' };

  it('to another protocol is ignored: bodies arrive and the connection stays open', async () => {
    talk = await serveTalk();
    const socket = connect(talk.port, '127.0.0.1');
    let received = '';
    socket.on('data', (piece) => {
      received += piece;
    });
    const answers = () => received.match(/HTTP\/1\.1 \d+/g)?.length ?? 0;
    const ask = (line: string, headers: object) => {
      const all = Object.entries({ Host: `127.0.0.1:${talk.port}`, ...headers });
      socket.write(`${line} HTTP/1.1\r\n${all.map((each) => `${each.join(': ')}\r\n`).join('')}\r\n`);
    };
    ask('GET /plain', H2C);
    await eventually(() => expect(received).to.match(/\{"plain":true\}$/));
    ask('POST /post', { ...JSON_BODY, 'Content-Length': '13' });
    socket.write('{"said":');
    await new Promise(setImmediate);
    socket.write('"ab"}');
    await eventually(() => expect(received).to.match(/\{"said":"ab"\}$/));
    ask('POST /post', { ...JSON_BODY, 'Transfer-Encoding': 'chunked' });
    socket.write('d\r\n{"said":"ä"}\r\n0\r\n\r\n');
    await eventually(() => expect(received).to.match(/\{"said":"ä"\}$/));
    // Behind a pending request, and before an ordinary one.
    ask('GET /plain', {});
    ask('POST /post', { ...JSON_BODY, 'Content-Length': '2' });
    socket.write('{}');
    ask('GET /elsewhere', H2C);
    ask('GET /talk/a', H2C);
    await eventually(() => expect(answers()).to.equal(7));
    expect(received.match(/HTTP\/1\.1 \d+/g)).to.deep.equal(
      [200, 200, 200, 200, 200, 404, 426].map((each) => `HTTP/1.1 ${each}`),
    );
    expect(received).not.to.match(/^Connection: close\r$/m);
    // Repeated upgrade requests on one connection leave nothing behind.
    const warnings: Error[] = [];
    const warned = (warning: Error) => void warnings.push(warning);
    process.on('warning', warned);
    for (let nth = 8; nth < 20; nth++) {
      ask('GET /plain', H2C);
      await eventually(() => expect(answers()).to.equal(nth));
    }
    process.off('warning', warned);
    expect(warnings).to.deep.equal([]);
    socket.destroy();
  });

  it('must not have a body', async () => {
    talk = await serveTalk();
    const headers = { ...HANDSHAKE, 'Content-Type': 'application/json', 'Content-Length': '2' };
    expect(statusOf(await requestWith(headers, '/post', 'POST', '{}'))).to.equal(501);
  });

  it('waits for answers to earlier requests on its connection', async () => {
    talk = await serveTalk();
    const first = `GET /plain HTTP/1.1\r\nHost: 127.0.0.1:${talk.port}\r\n\r\n`;
    const answer = await raw([`${first}GET /talk/a HTTP/1.1`], { ...HANDSHAKE, 'X-Stranger': '1' });
    expect(answer.match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 200', 'HTTP/1.1 401']);
  });

  it('keeps data that arrived with it', async () => {
    talk = await serveTalk();
    const socket = connect(talk.port, '127.0.0.1');
    const headers = Object.entries({ Host: '127.0.0.1', ...HANDSHAKE }).map(([name, value]) => `${name}: ${value}`);
    const message = Buffer.from(JSON.stringify({ type: 'say', text: 'at once' }));
    // A mask of zeros leaves the text as is.
    const framed = Buffer.concat([Buffer.from([0x81, 0x80 | message.length, 0, 0, 0, 0]), message]);
    socket.write(Buffer.concat([Buffer.from(`GET /talk/a HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`), framed]));
    await eventually(() => expect(talk.received).to.deep.equal([{ type: 'say', text: 'at once' }]));
    socket.destroy();
    await eventually(() => expect(talk.left).to.deep.equal(['a']));
  });

  it('survives clients that disconnect during the handshake', async () => {
    talk = await serveTalk();
    for (const cut of [1, 40, 120, 180]) {
      const socket = connect(talk.port, '127.0.0.1');
      await once(socket, 'connect');
      const headers = Object.entries({ Host: '127.0.0.1', ...HANDSHAKE }).map(([name, value]) => `${name}: ${value}`);
      socket.write(`GET /talk/a HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`.slice(0, cut));
      socket.resetAndDestroy();
    }
    const talker = await talk.open();
    talker.say('still here');
    await eventually(() => expect(talker.received).to.have.length(1));
  });

  it('tells sockets to reconnect on shutdown', async () => {
    talk = await serveTalk();
    const talker = await talk.open();
    await talk.close();
    expect((await talker.closed).code).to.equal(1012);
    await eventually(() => expect(talk.left).to.deep.equal(['a']));
  });

  it('counts among the streams of its network until closed', async () => {
    talk = await serveTalk({ budgets: { ...createBudgets(), streams: createBudget('streams', 1) } });
    const first = await talk.open();
    expect(statusOf(await requestWith(HANDSHAKE))).to.be.oneOf([429, 503]);
    first.socket.close();
    await first.closed;
    await eventually(async () => (await talk.open()).socket.readyState === WebSocket.OPEN);
  });

  it('is documented with its messages', async () => {
    talk = await serveTalk();
    const says = { hello: { type: 'object' } };
    const route = {
      method: 'GET' as const,
      path: '/talk',
      summary: 'Talk',
      socket: { clientMessages: says, serverMessages: {}, perSecond: 1 },
      answers: {},
      handle: () => ({ status: 200 }),
    };
    const { get } = (openapi(toyPolicy, [route]).paths as { '/talk': { get: { [name: string]: object } } })['/talk'];
    expect(get['x-websocket']).to.deep.equal({ says, hears: {} });
    expect(get.responses).to.include.keys('101', '426');
  });

  it('is refused to clients that do not speak WebSocket', async () => {
    talk = await serveTalk();
    const stranger = new WebSocket(`${talk.url.replace('http', 'ws')}/talk/a`, [], {
      headers: { 'X-Stranger': '1' },
    });
    const [, response] = await once(
      stranger.on('error', () => {}),
      'unexpected-response',
    );
    expect(response.statusCode).to.equal(401);
    stranger.terminate();
  });
});
