/** A node that reads nothing for a while: its queue is bounded, and messages are lost as a whole. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { messageOf, useMesh } from '../../support/cluster-nodes.js';

/** A proxy that can stop reading: sent bytes then stay with the sender. */
async function startDam(port: number) {
  const clients = new Set<Socket>();
  const server: Server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    clients.add(client);
    client.pipe(upstream).pipe(client);
    for (const each of [client, upstream])
      each
        .on('error', () => {})
        .on('close', () => {
          clients.delete(client);
          client.destroy();
          upstream.destroy();
        });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    shut() {
      for (const client of clients) client.unpipe().pause();
    },
    async close() {
      server.close();
      for (const client of clients) client.destroy();
    },
  };
}

describe('a node that reads nothing', () => {
  const nodes = useMesh();
  let dam: Awaited<ReturnType<typeof startDam>>;
  afterEach(() => dam?.close());

  it('has a queue of a few megabytes; further messages are lost and counted', async () => {
    const ann = await nodes.node('ann');
    const bob = await nodes.node('bob', {
      async reached(port) {
        dam = await startDam(port);
        return dam.address;
      },
    });
    expect(await ann.mesh.request('bob', 'eve', messageOf('first'))).to.equal(true);
    dam.shut();
    const megabyte = 'm'.repeat(1024 * 1024);
    let count = 0;
    // The network buffers some megabytes itself.
    await eventually(() => {
      for (let each = 0; each < 10; each++) ann.mesh.send('bob', messageOf(`${count++} ${megabyte}`));
      return ann.lost() > 50;
    });
    expect(count - ann.lost()).to.be.below(40);
    expect(bob.received).to.deep.equal(['first']);
  });

  it('has a few megabytes of pending requests at a time, however many callers there are', async () => {
    const ann = await nodes.node('ann');
    let arrived = 0;
    const bob = await nodes.node('bob', {
      onMessage() {
        arrived++;
        return new Promise<boolean>(() => {});
      },
    });
    const half = 'h'.repeat(512 * 1024);
    const answers = Array.from({ length: 100 }, (_, who) => ann.mesh.request('bob', `target ${who}`, messageOf(half)));
    await eventually(() => arrived === 32);
    // Nothing is queued behind them, or more would have arrived by now.
    ann.mesh.send('bob', messageOf('told'));
    await eventually(() => bob.received.includes('told'));
    expect(arrived).to.equal(33);
    await bob.close();
    expect(await Promise.all(answers)).to.deep.equal(Array<boolean>(100).fill(false));
  });

  it('is not sent a message that would close the connection, and receives the next one', async () => {
    const ann = await nodes.node('ann');
    const bob = await nodes.node('bob');
    const tooLarge = messageOf('m'.repeat(1200 * 1024));
    ann.mesh.send('bob', tooLarge);
    expect(await ann.mesh.request('bob', 'eve', tooLarge)).to.equal(false);
    expect(ann.lost()).to.equal(2);
    ann.mesh.send('bob', messageOf('told'));
    expect(await ann.mesh.request('bob', 'eve', messageOf('asked'))).to.equal(true);
    expect(bob.received).to.deep.equal(['told', 'asked']);
  });
});
