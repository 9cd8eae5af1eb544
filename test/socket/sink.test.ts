/** What is sent over a WebSocket, as the network gets it. */
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { expect } from 'chai';
import { type WebSocket, WebSocketServer } from 'ws';
import { socketSink } from '../../adapters/socket/sink.js';

/** Counts how often it is written to, and with how many bytes in all. */
function recording() {
  const writes: number[] = [];
  const network = new Duplex({
    read() {},
    writev(chunks, done) {
      writes.push(chunks.reduce((sum, { chunk }) => sum + chunk.length, 0));
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
  writes.length = 0;
  return { writes, sink: socketSink(socket, network), socket };
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

  it('is not held back where it is much: what is unread is what the network did not take', () => {
    const { writes, sink, socket } = recording();
    sink.send({ json: JSON.stringify('x'.repeat(20_000)) });
    expect(writes).to.have.lengthOf(1);
    expect(sink.buffered()).to.equal(0);
    socket.terminate();
  });
});
