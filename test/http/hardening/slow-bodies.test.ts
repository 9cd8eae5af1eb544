/** Bodies that stall or trickle are given up and release their budget; slow but steady uploads succeed. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { BODY_COST } from '../../../adapters/http/server/budgets.js';
import { createBudget } from '../../../application/concurrency/limiters.js';
import { fakeClock } from '../../support/fake-clock.js';
import { echo, serveToys, type Toys } from '../toy-http-service.js';

const MEBIBYTE = 1024 * 1024;
const LIMIT = 8 * MEBIBYTE;
const WINDOW_MS = 5000;

describe('slow request body', () => {
  let toys: Toys;
  const time = fakeClock();
  const budget = createBudget('large', 4.5 * LIMIT * BODY_COST);
  const shared = createBudget('shared', 1000 * BODY_COST);
  const open: Socket[] = [];
  before(async () => {
    const handle = ({ body }: { body: unknown }) => ({
      status: 200,
      body: { bytes: (body as Buffer).length },
    });
    toys = await serveToys(
      [
        echo({ path: '/raw', body: 'bytes', bodyLimit: LIMIT, budget, handle }),
        echo({
          path: '/shared',
          body: 'bytes',
          budget: shared,
          handle,
          admit: ({ bearer = '' }) => bearer,
          callerKey: String,
        }),
        echo({ path: '/json', body: { type: 'object' } }),
        echo({ path: '/unread', handle: () => ({ status: 200, body: {} }) }),
      ],
      {},
      { after: time.after },
    );
  });
  afterEach(() => {
    for (const socket of open.splice(0)) socket.destroy();
  });
  after(() => toys.close());

  interface PartialRequest {
    readonly socket: Socket;
    /** All that was received, once the server has closed the connection. */
    readonly answer: Promise<string>;
    /** Sends more bytes; resolves when the server has read them. */
    send(bytes: number): Promise<void>;
  }

  async function beginRequest(path: string, length: number, caller = ''): Promise<PartialRequest> {
    const socket = connect(toys.port, '127.0.0.1');
    open.push(socket);
    let received = '';
    socket.on('data', (piece) => {
      received += piece;
    });
    socket.on('error', () => {});
    const answer = once(socket, 'close').then(() => received);
    const headers = [
      `POST ${path} HTTP/1.1`,
      'Host: x',
      `Authorization: Bearer ${caller}`,
      'Content-Type: application/json',
      `Content-Length: ${length}`,
    ];
    const head = `${headers.join('\r\n')}\r\n\r\n`;
    await new Promise<void>((resolve) => socket.write(head, () => resolve()));
    return {
      socket,
      answer,
      async send(bytes) {
        const before = budget.used();
        socket.write(Buffer.alloc(bytes, 0x20));
        if (path === '/raw') await eventually(() => budget.used() === before + bytes * BODY_COST);
      },
    };
  }
  /** Lets one time window pass, and the server process what arrived. */
  async function windowPasses() {
    time.pass(WINDOW_MS);
    await new Promise(setImmediate);
    await new Promise(setImmediate);
  }

  it('that stalls gets 408, and releases its connection and budget', async () => {
    const stalled = await Promise.all([1, 2, 3].map(() => beginRequest('/raw', LIMIT)));
    for (const { send } of stalled) await send(LIMIT - 1);
    expect((await toys.post('/raw', 'x'.repeat(1000))).status).to.equal(429);
    await windowPasses();
    await windowPasses();
    for (const { answer } of stalled) {
      const [head = '', body = ''] = (await answer).split('\r\n\r\n');
      expect(head).to.match(/^HTTP\/1\.1 408 /);
      expect(head).to.match(/^connection: close$/im);
      expect(JSON.parse(body)).to.deep.equal({ error: 'The request took too long to arrive' });
    }
    await eventually(() => budget.used() === 0);
    expect((await toys.post('/raw', 'x'.repeat(1000))).json).to.deep.equal({ bytes: 1000 });
  });

  it('that trickles gets 408 on any route', async () => {
    const small = await beginRequest('/json', 10_000);
    const large = await beginRequest('/raw', LIMIT);
    await small.send(1000);
    await large.send(10_000);
    await windowPasses();
    expect(await small.answer).to.match(/^HTTP\/1\.1 408 /);
    expect(await large.answer).to.match(/^HTTP\/1\.1 408 /);
  });

  it('that arrives at 32 KB a second is accepted, however long it takes', async () => {
    const { socket, answer, send } = await beginRequest('/raw', 2 * MEBIBYTE);
    const window = (32_000 * WINDOW_MS) / 1000;
    let remaining = 2 * MEBIBYTE;
    for (; remaining > window; remaining -= window) {
      await send(window);
      await windowPasses();
    }
    socket.end(Buffer.alloc(remaining, 0x20));
    const received = await answer;
    expect(received).to.match(/^HTTP\/1\.1 200 /);
    expect(received).to.include(`{"bytes":${2 * MEBIBYTE}}`);
  });

  it("uses at most its caller's share of the budget", async () => {
    const stalled = await beginRequest('/shared', 1000, 'one');
    stalled.socket.write(Buffer.alloc(500));
    await eventually(() => shared.used() === 500 * BODY_COST);
    const from = async (caller: string, bytes: number) =>
      (await toys.post('/shared', 'x'.repeat(bytes), { Authorization: `Bearer ${caller}` })).status;
    expect(await from('one', 167)).to.equal(429);
    expect(await from('one', 166)).to.equal(200);
    expect(await from('other', 501)).to.equal(429);
    expect(await from('other', 500)).to.equal(200);
    stalled.socket.destroy();
    await eventually(() => shared.used() === 0);
    expect(await from('one', 1000)).to.equal(200);
  });

  it('that is never read does not keep its connection open', async () => {
    const { answer } = await beginRequest('/unread', 1000);
    await eventually(() => open[0]!.bytesRead > 0);
    await windowPasses();
    await windowPasses();
    expect(await answer).to.match(/^HTTP\/1\.1 200 /);
  });
});
