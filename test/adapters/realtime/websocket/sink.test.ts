/** WebSocket output as the network receives it. */
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { type WebSocket, WebSocketServer } from 'ws';
import { socketSink } from '../../../../adapters/realtime/websocket/sink.js';

/** Counts writes and bytes. */
function recording() {
  const writes: number[] = [];
  const written: Buffer[] = [];
  const network = new Duplex({
    read() {},
    writev(chunks, done) {
      writes.push(chunks.reduce((sum, { chunk }) => sum + chunk.length, 0));
      written.push(...chunks.map(({ chunk }) => chunk));
      done();
    },
  });
  const request = new IncomingMessage(new Socket());
  request.method = 'GET';
  request.headers = {
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  };
  let socket!: WebSocket;
  const server = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  server.handleUpgrade(request, network, Buffer.alloc(0), (opened) => {
    socket = opened;
  });
  writes.length = written.length = 0;
  return { writes, written, sink: socketSink(socket, network), socket, network };
}

/** Parses frames by RFC 6455, section 5.2: each a text in one frame. */
function textsOf(written: readonly Buffer[]): string[] {
  const texts: string[] = [];
  for (let bytes = Buffer.concat(written); bytes.length > 0; ) {
    expect(bytes[0]).to.equal(0x81);
    const kind = bytes.readUInt8(1);
    const [begin, length] =
      kind < 126 ? [2, kind] : kind === 126 ? [4, bytes.readUInt16BE(2)] : [10, Number(bytes.readBigUInt64BE(2))];
    expect(kind, 'in as few bytes as it can').to.equal(length < 126 ? length : length < 65_536 ? 126 : 127);
    texts.push(bytes.toString('utf8', begin, begin + length));
    bytes = bytes.subarray(begin + length);
  }
  return texts;
}

const turn = () => new Promise(setImmediate);

describe('WebSocket output', () => {
  it('is written at once, in one write per turn', async () => {
    const { writes, sink, socket } = recording();
    // Events arrive through settled promises.
    await turn();
    for (const json of ['{"one":1}', '{"two":2}']) sink.send({ json });
    await Promise.resolve().then(() => sink.send({ json: '{"three":3}' }));
    await turn();
    // A two-byte header and the frame, three times.
    expect(writes).to.deep.equal([11 + 11 + 13]);
    sink.send({ json: '{}' });
    await turn();
    expect(writes.slice(1)).to.deep.equal([4]);
    socket.terminate();
  });

  it('is complete at any length and equal for all recipients', async () => {
    const { written, sink, socket } = recording();
    // Sizes where the header grows, in bytes rather than characters: 126 and 65,536, with quotes.
    for (const length of [0, 121, 122, 123, 124, 65_531, 65_532, 65_533, 200_000]) {
      const frame = { json: JSON.stringify(`é${'x'.repeat(length)}`.slice(0, length)) };
      const other = recording();
      for (const each of [sink, other.sink]) each.send(frame);
      await turn();
      expect(textsOf(written.splice(0)), String(length)).to.deep.equal([frame.json]);
      expect(textsOf(other.written)).to.deep.equal([frame.json]);
      other.socket.terminate();
    }
    socket.terminate();
  });

  it('ends with the given code, 1000 by default, and 1012 where the client is to reconnect', () => {
    for (const [how, code, expected] of [
      ['over', undefined, 1000],
      ['over', 4003, 4003],
      ['resume', undefined, 1012],
      ['resume', 4003, 1012],
    ] as const) {
      const { written, sink, socket } = recording();
      sink.end(how, code);
      const frame = Buffer.concat(written);
      expect([frame[0], frame.readUInt16BE(2)]).to.deep.equal([0x88, expected]);
      socket.terminate();
    }
  });

  it('reports each time the network has taken everything', () => {
    const { sink, socket, network } = recording();
    let drains = 0;
    sink.onDrain(() => void drains++);
    for (let count = 0; count < 3; count++) network.emit('drain');
    expect(drains).to.equal(3);
    socket.terminate();
  });

  it('reports that the connection has closed, also if it was closed before', async () => {
    const { sink, socket } = recording();
    let closes = 0;
    sink.onClose(() => void closes++);
    socket.terminate();
    await eventually(() => closes === 1);
    sink.onClose(() => void closes++);
    expect(closes).to.equal(2);
  });

  it('is discarded while the connection is closing', async () => {
    const { writes, sink, socket } = recording();
    sink.end('over');
    await turn();
    const closed = [...writes];
    sink.send({ json: '{}' });
    await turn();
    expect(writes).to.deep.equal(closed);
    socket.terminate();
  });

  it('is not held back when large: unread is what the network has not taken', () => {
    const { writes, sink, socket } = recording();
    sink.send({ json: JSON.stringify('x'.repeat(20_000)) });
    expect(writes).to.have.lengthOf(1);
    expect(sink.buffered()).to.equal(0);
    socket.terminate();
  });
});
