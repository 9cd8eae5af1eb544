/** Limits on a single connection: pipelined requests, and responses that the client does not read. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { limitUnreadResponses } from '../../../adapters/http/hardening/connection-limits.js';
import { createBudget } from '../../../application/concurrency/limiters.js';
import { echo, serveToys, type Toys } from '../toy-http-service.js';

const GET = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

describe('limits on a single connection', () => {
  const open: Socket[] = [];
  afterEach(() => {
    for (const socket of open.splice(0)) socket.destroy();
  });

  function dial(port: number): Socket {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    open.push(socket);
    return socket;
  }

  describe('pipelined requests', () => {
    let toys: Toys;
    const started: string[] = [];
    let release = () => {};
    before(async () => {
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      const handle = async ({ params: { id = '' } }: { params: { readonly [name: string]: string } }) => {
        started.push(id);
        if (id === 'held') await released;
        return { status: 200, body: { id } };
      };
      toys = await serveToys([echo({ method: 'GET', path: '/toys/:id', handle })]);
    });
    beforeEach(() => started.splice(0));
    after(() => toys.close());

    it('are started one after another, and answered in order', async () => {
      const socket = dial(toys.port);
      let received = '';
      socket.on('data', (piece) => {
        received += piece;
      });
      const ids = ['held', '1', '2', '3'];
      socket.write(ids.map((id) => GET(`/toys/${id}`)).join(''));
      await eventually(() => started.length > 0);
      expect((await toys.ask('/toys/other')).json).to.deep.equal({ id: 'other' });
      expect(started).to.deep.equal(['held', 'other']);
      release();
      await eventually(() => received.includes('{"id":"3"}'));
      expect([...received.matchAll(/"id":"(\w+)"/g)].map(([, id]) => id)).to.deep.equal(ids);
    });

    it('close the connection when there are thousands, without starting the rest', async () => {
      const socket = dial(toys.port);
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.write(GET('/toys/1').repeat(5000));
      await closed;
      expect(started.length).to.be.below(200);
      expect((await toys.ask('/toys/other')).status).to.equal(200);
    });
  });

  describe('unread responses', () => {
    const LARGE = Buffer.alloc(16 * 1024 * 1024, 'x');

    /** A server that answers everything with a response larger than socket buffers. */
    async function startServer(bound: ReturnType<typeof limitUnreadResponses>) {
      const sockets: Socket[] = [];
      const server = createServer((_, response) => {
        bound(response);
        response.end(LARGE);
      });
      server.on('connection', (socket) => sockets.push(socket));
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      return {
        sockets,
        async ask() {
          const before = sockets.length;
          dial(port).pause().write(GET('/'));
          await eventually(() => sockets.length > before && sockets.at(-1)!.writableLength > 0);
        },
        async close() {
          for (const socket of sockets) socket.destroy();
          server.close();
          await once(server, 'close');
        },
      };
    }

    it('close the connection after a while', async () => {
      const server = await startServer(
        limitUnreadResponses({
          budget: createBudget('unread', 100 * LARGE.length),
          networkOf: () => 'x',
          stalledMs: 20,
        }),
      );
      await server.ask();
      await eventually(() => server.sockets[0]!.destroyed);
      await server.close();
    });

    it('close the longest unread connections first when the budget is exceeded', async () => {
      const networks = ['a', 'b', 'c', 'd'];
      const budget = createBudget('unread', 2.5 * LARGE.length);
      const server = await startServer(limitUnreadResponses({ budget, networkOf: () => networks.shift() ?? '' }));
      for (let n = 0; n < 4; n++) await server.ask();
      await eventually(() => server.sockets.filter(({ destroyed }) => destroyed).length === 2);
      expect(server.sockets.map(({ destroyed }) => destroyed)).to.deep.equal([true, true, false, false]);
      await server.close();
      await eventually(() => budget.used() === 0);
    });

    it('close a connection of the network that exceeds its share, and spare others', async () => {
      const networks = ['other', 'greedy', 'greedy', 'greedy'];
      const budget = createBudget('unread', 5 * LARGE.length);
      const server = await startServer(limitUnreadResponses({ budget, networkOf: () => networks.shift() ?? '' }));
      for (let n = 0; n < 4; n++) await server.ask();
      await eventually(() => server.sockets.some(({ destroyed }) => destroyed));
      expect(server.sockets.map(({ destroyed }) => destroyed)).to.deep.equal([false, true, false, false]);
      await server.close();
    });
  });
});
