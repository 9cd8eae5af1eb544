/** Strangers on the cluster port get nothing, and nodes do not notice them. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { pskTls } from '../../../adapters/cluster/protocol.js';
import { KEY, messageOf, useMesh } from '../../support/cluster-nodes.js';
import { fakeClock } from '../../support/fake-clock.js';

/** Any kind of connection. */
const closed = (socket: Socket | WebSocket) =>
  new Promise<number>((resolve) => void socket.once('close', (code: number) => resolve(code)));

/** Collects all bytes until the peer closes. */
async function all(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => void chunks.push(chunk));
  socket.on('error', () => {});
  await closed(socket);
  return Buffer.concat(chunks);
}

describe('the cluster port', () => {
  const nodes = useMesh();

  /** A hand-written node that can send anything. */
  async function dial(port: number, headers: Record<string, string>, key = KEY) {
    const socket = new WebSocket(`wss://127.0.0.1:${port}/`, { ...pskTls(key).client, headers });
    socket.on('error', () => {});
    const over = closed(socket);
    const opened = await new Promise<boolean>((resolve) => {
      socket.once('open', () => resolve(true));
      void over.then(() => resolve(false));
    });
    return { socket, opened, over };
  }

  it('rejects nodes of another installation, as server and as client', async () => {
    const ann = await nodes.node('ann');
    const eve = await nodes.node('eve', { key: Buffer.alloc(32, 1) });
    expect((await dial(ann.port, { 'mesh-from': 'eve', 'mesh-to': 'ann' })).opened).to.equal(true);
    const other = await dial(ann.port, { 'mesh-from': 'eve', 'mesh-to': 'ann' }, Buffer.alloc(32, 1));
    expect(other.opened).to.equal(false);
    expect(await eve.mesh.request('ann', 'x', messageOf('x'))).to.equal(false);
    expect(await ann.mesh.request('eve', 'x', messageOf('x'))).to.equal(false);
    expect([ann.received, eve.received]).to.deep.equal([[], []]);
  });

  it('rejects a replay of a recorded handshake', async () => {
    const recorded: Buffer[] = [];
    let target = 0;
    const recorder = createServer((client) => {
      const upstream = connect(target, '127.0.0.1');
      client.on('data', (chunk) => {
        recorded.push(chunk);
        upstream.write(chunk);
      });
      upstream.on('data', (chunk) => void client.write(chunk));
      for (const each of [client, upstream]) {
        each.on('error', () => {});
        each.on('close', () => {
          client.destroy();
          upstream.destroy();
        });
      }
    }).listen(0, '127.0.0.1');
    await once(recorder, 'listening');
    try {
      const bob = await nodes.node('bob', {
        async reached(port) {
          target = port;
          return `127.0.0.1:${(recorder.address() as AddressInfo).port}`;
        },
      });
      const ann = await nodes.node('ann');
      expect(await ann.mesh.request('bob', 'x', messageOf('once'))).to.equal(true);
      expect(Buffer.concat(recorded).includes('once')).to.equal(false);
      const again = connect(bob.port, '127.0.0.1');
      for (const chunk of recorded) again.write(chunk);
      await all(again);
      expect(bob.received).to.deep.equal(['once']);
    } finally {
      recorder.close();
    }
  });

  it('reveals nothing to strangers, whatever they send', async () => {
    const ann = await nodes.node('ann');
    for (const text of ['GET / HTTP/1.1\r\nHost: a\r\n\r\n', '\0'.repeat(100_000), 'SSH-2.0-x\r\n']) {
      const socket = connect(ann.port, '127.0.0.1');
      const answered = all(socket);
      socket.write(text);
      // At most a TLS alert of seven bytes.
      expect((await answered).length).to.be.at.most(7);
    }
  });

  it('drops silent connections, the oldest first when there are too many, while nodes still connect', async () => {
    const ann = await nodes.node('ann');
    const strangers = Array.from({ length: 100 }, () => connect(ann.port, '127.0.0.1'));
    let cut = 0;
    const ends = strangers.map((socket) => all(socket).then(() => void cut++));
    await eventually(() => cut === 36);
    const bob = await nodes.node('bob');
    expect(await bob.mesh.request('ann', 'x', messageOf('x'))).to.equal(true);
    await Promise.all(ends);
    expect(await bob.mesh.request('ann', 'x', messageOf('y'))).to.equal(true);
  }).timeout(20_000);

  it('gives a node nothing but its connection, and none under a name it cannot prove', async () => {
    const ann = await nodes.node('ann');
    for (const headers of [{ 'mesh-from': 'bob', 'mesh-to': 'other' }, { 'mesh-to': 'ann' }, {}])
      expect((await dial(ann.port, headers as Record<string, string>)).opened).to.equal(false);
    expect(ann.received).to.deep.equal([]);
  });

  it('closes a connection with an invalid or oversized message; others stay open', async () => {
    const ann = await nodes.node('ann');
    const bob = await nodes.node('bob');
    const header = (text: string, length = text.length) => {
      const size = Buffer.alloc(4);
      size.writeUInt32BE(length);
      return Buffer.concat([size, Buffer.from(text)]);
    };
    const wrong = [
      'text',
      Buffer.alloc(0),
      Buffer.from([1]),
      header('{}', 1000),
      header('{nothing}'),
      header('null'),
      header('{"channel":1,"head":{}}'),
      header('{"channel":"toy","head":{"to":1}}'),
      header('{"channel":"toy","head":{},"number":"1"}'),
      Buffer.alloc(2 * 1024 * 1024, header('{"channel":"toy","head":{}}')),
    ];
    for (const each of wrong) {
      const { socket, opened, over } = await dial(ann.port, { 'mesh-from': 'eve', 'mesh-to': 'ann' });
      expect(opened).to.equal(true);
      socket.send(each);
      expect([1002, 1009]).to.include(await over);
    }
    expect(ann.received).to.deep.equal([]);
    expect(await bob.mesh.request('ann', 'x', messageOf('x'))).to.equal(true);
  });

  it('closes a connection whose peer stops within a message and answers no ping', async () => {
    const time = fakeClock();
    const ann = await nodes.node('ann', { time });
    const { socket, over } = await dial(ann.port, { 'mesh-from': 'eve', 'mesh-to': 'ann' });
    socket.pause();
    socket.send(Buffer.alloc(10), { fin: false });
    for (let ping = 0; ping < 10; ping++) time.pass(1000);
    socket.resume();
    expect(await over).to.equal(1006);
  });
});
