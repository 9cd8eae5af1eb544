/** Bodies in many small chunks: they are processed in turns with other work, and their number is limited. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { watchChunks } from '../../../adapters/http/hardening/connection-limits.js';
import { echo, serveToys, type Toys } from '../toy-http-service.js';

const TINY_CHUNK = '1\r\nx\r\n';
const PIECE = '14\r\n{"message":"hello"}\n\r\n';
const END = '0\r\n\r\n';

describe('body in many small chunks', () => {
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

  /** All that was received until the server closed; `rest` is sent repeatedly for as long as possible. */
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

  it('is accepted when a client writes line by line', async () => {
    const answer = await send('/raw', PIECE.repeat(20_000) + END);
    expect(answer).to.include(`{"bytes":${20_000 * 20}}`);
  });

  it('yields to other work, even when all chunks arrive together', async () => {
    const body = new Readable({ read() {} });
    let chunks = 0;
    const onTooMany = () => expect.fail('there are not');
    watchChunks(body, { onChunk: () => chunks++, onTooMany });
    for (let n = 0; n < 2000; n++) body.push('x');
    body.push(null);
    body.on('data', () => {});
    await new Promise(setImmediate);
    expect(chunks).to.be.within(1, 1000);
    await once(body, 'end');
    expect(chunks).to.equal(2000);
  });

  it('is rejected when there are far too many chunks for its size', async () => {
    const answer = await send('/raw', TINY_CHUNK.repeat(12_000) + END);
    expect(answer).to.match(/^HTTP\/1.1 400 /);
    expect(answer).to.include('"error":"The body is sent in too many small chunks"');
  });

  it('closes the connection when the chunks do not end, also on unknown routes', async () => {
    await send('/raw', TINY_CHUNK, TINY_CHUNK.repeat(1000));
    await send('/nowhere', TINY_CHUNK, TINY_CHUNK.repeat(1000));
  });
});
