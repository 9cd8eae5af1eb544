/** The memory budget of request bodies: it counts received bytes, and requests that exceed it have to retry. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { BODY_COST } from '../../adapters/http/server/budgets.js';
import { createBudget } from '../../application/concurrency/limiters.js';
import { echo, serveToys, type Toys } from './toy-http-service.js';

/** One network may use two thirds of the budget. */
const BUDGET = 1500 * 1.5;
const LIMIT = 1000;

describe('memory budget of request bodies', () => {
  let toys: Toys;
  const budget = createBudget('toys', BUDGET * BODY_COST);
  const used = () => budget.used() / BODY_COST;
  const open: Socket[] = [];
  before(async () => {
    const handle = ({ body }: { body: unknown }) => ({ status: 200, body: { bytes: String(body).length } });
    toys = await serveToys([echo({ path: '/raw', body: 'bytes', bodyLimit: LIMIT, budget, handle })]);
  });
  after(async () => {
    for (const socket of open) socket.destroy();
    await toys.close();
  });

  /** Announces a body of the maximum length, and sends part of it. */
  async function beginRequest(sent: number): Promise<Socket> {
    const socket = connect(toys.port, '127.0.0.1');
    open.push(socket);
    const head = `POST /raw HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${LIMIT}\r\nExpect: 100-continue\r\n\r\n`;
    socket.write(head);
    await once(socket, 'data');
    socket.write('x'.repeat(sent));
    return socket;
  }
  const waitUntil = async (holds: () => boolean) => {
    while (!holds()) await new Promise(setImmediate);
  };

  it('is not reserved for announced bytes that have not arrived', async () => {
    await beginRequest(1);
    await beginRequest(1);
    await waitUntil(() => used() === 2);
    expect((await toys.post('/raw', 'x'.repeat(500))).json).to.deep.equal({ bytes: 500 });
    expect(used()).to.equal(2);
  });

  it('counts bytes as they arrive; a request that exceeds it gets 429 and releases its bytes', async () => {
    const [first, second] = [await beginRequest(450), await beginRequest(450)];
    await waitUntil(() => used() === 902);
    first.write('x'.repeat(549));
    await waitUntil(() => used() === 1451);
    const rejection = once(second, 'data');
    second.write('x'.repeat(300));
    expect(String(await rejection)).to.match(/^HTTP\/1.1 429 /);
    await waitUntil(() => used() === 1001);
    const completion = once(first, 'data');
    first.write('x');
    expect(String(await completion)).to.match(/^HTTP\/1.1 200 /);
    await waitUntil(() => used() === 2);
  });
});
