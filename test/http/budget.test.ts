/** The budget that bodies have in memory: it is for what has come, and who finds too little is told to come back. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { BODY_COST } from '../../adapters/http/server/budgets.js';
import { createBudget } from '../../application/concurrency/fair-share-budget.js';
import { echo, serveToys, type Toys } from './toy-http-service.js';

/** What one network has of it is two thirds. */
const MOST = 1500 * 1.5;
const LIMIT = 1000;

describe('the budget of bodies', () => {
  let toys: Toys;
  const budget = createBudget('toys', MOST * BODY_COST);
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

  /** Announces a body of the largest kind, and sends some of it. */
  async function begin(sent: number): Promise<Socket> {
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

  it('is not kept by those who announce much and send little', async () => {
    await begin(1);
    await begin(1);
    await waitUntil(() => used() === 2);
    expect((await toys.post('/raw', 'x'.repeat(500))).json).to.deep.equal({ bytes: 500 });
    expect(used()).to.equal(2);
  });

  it('is counted as it comes: who finds too little is told to come back, and lets go of what has come', async () => {
    const [first, second] = [await begin(450), await begin(450)];
    await waitUntil(() => used() === 902);
    first.write('x'.repeat(549));
    await waitUntil(() => used() === 1451);
    const refused = once(second, 'data');
    second.write('x'.repeat(300));
    expect(String(await refused)).to.match(/^HTTP\/1.1 429 /);
    await waitUntil(() => used() === 1001);
    const taken = once(first, 'data');
    first.write('x');
    expect(String(await taken)).to.match(/^HTTP\/1.1 200 /);
    await waitUntil(() => used() === 2);
  });
});
