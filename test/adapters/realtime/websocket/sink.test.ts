/** What is sent over a WebSocket, as the network gets it. */
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { type WebSocket, WebSocketServer } from 'ws';
import { socketSink } from '../../../../adapters/realtime/websocket/sink.js';

/** Counts how often it is written to, and with how many bytes in all. */
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

/** What a client reads of it, by RFC 6455, section 5.2: each a text in one frame. */
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

describe('what is sent over a WebSocket', () => {
  it('goes out in one write where it is sent in one turn, and at once', async () => {
    const { writes, sink, socket } = recording();
    // As events are told: by a promise that is settled.
    await turn();
    for (const json of ['{"one":1}', '{"two":2}']) sink.send({ json });
    await Promise.resolve().then(() => sink.send({ json: '{"three":3}' }));
    await turn();
    // A header of two bytes and the frame, three times.
    expect(writes).to.deep.equal([11 + 11 + 13]);
    sink.send({ json: '{}' });
    await turn();
    expect(writes.slice(1)).to.deep.equal([4]);
    socket.terminate();
  });

  it('is whole however long it is, and the same for all who get it', async () => {
    const { written, sink, socket } = recording();
    // Where the number of bytes, not of characters, needs more room in a header: 126 and 65,536, with quotes.
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

  it('ends with the code of what is over, 1000 unless given, and with 1012 where its client is to come back', () => {
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

  it('hears each time that the network has taken everything', () => {
    const { sink, socket, network } = recording();
    let drains = 0;
    sink.onDrain(() => void drains++);
    for (let count = 0; count < 3; count++) network.emit('drain');
    expect(drains).to.equal(3);
    socket.terminate();
  });

  it('hears that the connection is over, also where it was before', async () => {
    const { sink, socket } = recording();
    let closes = 0;
    sink.onClose(() => void closes++);
    socket.terminate();
    await eventually(() => closes === 1);
    sink.onClose(() => void closes++);
    expect(closes).to.equal(2);
  });

  it("is nobody's once the connection is being closed", async () => {
    const { writes, sink, socket } = recording();
    sink.end('over');
    await turn();
    const closed = [...writes];
    sink.send({ json: '{}' });
    await turn();
    expect(writes).to.deep.equal(closed);
    socket.terminate();
  });

  it('is not held back where it is much: what is unread is what the network did not take', () => {
    const { writes, sink, socket } = recording();
    sink.send({ json: JSON.stringify('x'.repeat(20_000)) });
    expect(writes).to.have.lengthOf(1);
    expect(sink.buffered()).to.equal(0);
    socket.terminate();
  });
});
