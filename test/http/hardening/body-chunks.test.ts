/** Bodies that come in many small pieces: they pass in turns with everybody else, and not in any number. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { watchChunks } from '../../../adapters/http/hardening/body-limits.js';
import { echo, serveToys, type Toys } from '../toy-http-service.js';

const CRUMB = '1\r\nx\r\n';
const PIECE = '14\r\n{"message":"hello"}\n\r\n';
const END = '0\r\n\r\n';

describe('a body in crumbs', () => {
  let toys: Toys;
  const open: Socket[] = [];
  before(async () => {
    toys = await serveToys([
      echo({
        path: '/raw',
        body: 'bytes',
        bodyLimit: 1024 * 1024,
        handle: ({ body }) => ({ status: 200, body: { bytes: (body as Buffer).length } }),
      }),
    ]);
  });
  afterEach(() => {
    for (const socket of open.splice(0)) socket.destroy();
  });
  after(() => toys.close());

  /** All that came back, once the other side has ended; `rest` is sent for as long as it takes it. */
  async function send(path: string, body: string, rest?: string): Promise<string> {
    const socket = connect(toys.port, '127.0.0.1');
    open.push(socket);
    let received = '';
    socket.on('data', (piece) => {
      received += piece;
      if (!rest && received.includes('}')) socket.end();
    });
    socket.on('error', () => {});
    const more = () => {
      while (rest && !socket.destroyed && socket.write(rest));
    };
    socket.on('drain', more);
    socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${body}`, more);
    await new Promise((resolve) => socket.once('close', resolve));
    return received;
  }

  it('passes where a client writes line by line', async () => {
    const answer = await send('/raw', PIECE.repeat(20_000) + END);
    expect(answer).to.include(`{"bytes":${20_000 * 20}}`);
  });

  it('lets others have their turn, though it came at once', async () => {
    const body = new Readable({ read() {} });
    let told = 0;
    const onTooMany = () => expect.fail('there are not');
    watchChunks(body, { onChunk: () => told++, onTooMany });
    for (let crumb = 0; crumb < 2000; crumb++) body.push('x');
    body.push(null);
    body.on('data', () => {});
    await new Promise(setImmediate);
    expect(told).to.be.within(1, 1000);
    await once(body, 'end');
    expect(told).to.equal(2000);
  });

  it('is given up when there are far too many for so few bytes', async () => {
    const answer = await send('/raw', CRUMB.repeat(12_000) + END);
    expect(answer).to.match(/^HTTP\/1.1 400 /);
    expect(answer).to.include('"error":"The body is sent in too many small chunks"');
  });

  it('loses its connection when it goes on and on, and also where nobody reads it', async () => {
    await send('/raw', CRUMB, CRUMB.repeat(1000));
    await send('/nowhere', CRUMB, CRUMB.repeat(1000));
  });
});
