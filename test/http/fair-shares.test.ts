/** Shared budgets: one network that uses its share gets 429, and others are served. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { BODY_COST, type Budgets, createBudgets } from '../../adapters/http/server/budgets.js';
import { createClientAddress } from '../../adapters/http/server/client-network.js';
import { createBudget } from '../../application/concurrency/limiters.js';
import { echo, serveToys, type ToyAnswer, type Toys } from './toy-http-service.js';

const BODY = 1000;

describe('shared budgets', () => {
  let toys: Toys;
  let budgets: Budgets;
  let started: number;
  let answer: () => void;
  let clients: AbortController;
  const pending: Promise<unknown>[] = [];
  beforeEach(async () => {
    budgets = {
      ...createBudgets(),
      requests: createBudget('requests', 9),
      bodies: createBudget('bodies', 9 * BODY * BODY_COST),
      streams: createBudget('streams', 9),
    };
    started = 0;
    clients = new AbortController();
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const slow = async () => {
      started++;
      await answered;
      return { status: 200, body: {} };
    };
    const routes = [
      echo({ method: 'GET', path: '/toys' }),
      echo({ path: '/toys', body: { type: 'object' } }),
      echo({ method: 'GET', path: '/slow', handle: slow }),
      echo({ path: '/slow', body: { type: 'object' }, handle: slow }),
      echo({ method: 'GET', path: '/slowly-admitted', admit: slow }),
      echo({ method: 'GET', path: '/stream', handle: () => ({ stream: (sink) => sink.beat() }) }),
    ];
    const clientAddress = createClientAddress(['127.0.0.1']);
    toys = await serveToys(routes, {}, { budgets, clientAddress });
  });
  afterEach(async () => {
    answer();
    clients.abort();
    await Promise.allSettled(pending.splice(0));
    await toys.close();
  });

  const from = (address: string) => ({ 'X-Forwarded-For': address });
  const ask = (address: string, path: string) => toys.ask(path, { headers: from(address) });
  /** Starts `count` requests that are answered later. */
  async function startRequests(address: string, count: number, path = '/slow') {
    const before = started;
    for (let nth = 0; nth < count; nth++) pending.push(ask(address, path));
    await eventually(() => started === before + count);
  }
  async function open(address: string) {
    const response = await fetch(`${toys.url}/stream`, { headers: from(address), signal: clients.signal });
    if (!response.ok) await response.text();
    return response;
  }
  const expectRejected = ({ status, headers, json }: ToyAnswer, expected: number) => {
    expect(status).to.equal(expected);
    expect(Number(headers.get('retry-after'))).to.be.greaterThan(0);
    expect(json.error).to.be.a('string');
  };

  for (const path of ['/slow', '/slowly-admitted'])
    it(`limit the pending requests of one network to two thirds: ${path}`, async () => {
      await startRequests('192.0.2.1', 6, path);
      expectRejected(await ask('192.0.2.1', '/toys'), 429);
      expect((await ask('192.0.2.2', '/toys')).status).to.equal(200);
      answer();
      await Promise.all(pending);
      expect((await ask('192.0.2.1', '/toys')).status).to.equal(200);
    });

  it('group IPv6 callers by their /64', async () => {
    for (let host = 1; host <= 6; host++) await startRequests(`2001:db8:0:1::${host}`, 1);
    expectRejected(await ask('2001:db8:0:1::7', '/toys'), 429);
    expect((await ask('2001:db8:0:2::7', '/toys')).status).to.equal(200);
  });

  it('answer 503 when many networks together use everything', async () => {
    for (let network = 1; network <= 9; network++) await startRequests(`192.0.2.${network}`, 1);
    expectRejected(await ask('192.0.2.10', '/toys'), 503);
    expectRejected(await ask('192.0.2.1', '/toys'), 429);
  });

  it('count request bodies until their requests are finished', async () => {
    const post = (address: string, path: string) =>
      toys.post(path, JSON.stringify({ text: 'x' }).padEnd(BODY), from(address));
    const posted = [1, 2, 3, 4, 5].map(() => post('192.0.2.1', '/slow'));
    pending.push(...posted);
    await eventually(() => started === 5);
    expect(budgets.bodies.used()).to.equal(5 * BODY * BODY_COST);
    // Otherwise the number of requests would exceed its budget.
    const large = (address: string) => toys.post('/toys', `{}${' '.repeat(1.5 * BODY)}`, from(address));
    expectRejected(await large('192.0.2.1'), 429);
    expect((await large('192.0.2.2')).status).to.equal(200);
    answer();
    await Promise.all(posted);
    await eventually(() => budgets.bodies.used() === 0);
    expect((await large('192.0.2.1')).status).to.equal(200);
  });

  it('count streams, which are not pending requests', async () => {
    for (let nth = 0; nth < 6; nth++) expect((await open('192.0.2.1')).status).to.equal(200);
    expect([budgets.streams.used(), budgets.requests.used()]).to.deep.equal([6, 0]);
    expectRejected(await ask('192.0.2.1', '/stream'), 429);
    expect((await toys.ask('/stream', { method: 'HEAD', headers: from('192.0.2.1') })).status).to.equal(200);
    expect((await ask('192.0.2.1', '/toys')).status).to.equal(200);
    expect((await open('192.0.2.2')).status).to.equal(200);
    clients.abort();
    await eventually(() => budgets.streams.used() === 0);
    clients = new AbortController();
    expect((await open('192.0.2.1')).status).to.equal(200);
  });
});
