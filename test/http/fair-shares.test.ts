/** What all callers share: one network that wants all of it is told to wait, and others are served. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { BODY_COST, type Budgets, createBudgets } from '../../adapters/http/server/budgets.js';
import { createClientAddress } from '../../adapters/http/server/client-address.js';
import { createBudget } from '../../application/concurrency/fair-share-budget.js';
import { echo, serveToys, type Told, type Toys } from './toy-http-service.js';

const BODY = 1000;

describe('what all callers share', () => {
  let toys: Toys;
  let budgets: Budgets;
  let begun: number;
  let answer: () => void;
  let leave: AbortController;
  const pending: Promise<unknown>[] = [];
  beforeEach(async () => {
    budgets = {
      ...createBudgets(),
      requests: createBudget('requests', 9),
      bodies: createBudget('bodies', 9 * BODY * BODY_COST),
      streams: createBudget('streams', 9),
    };
    begun = 0;
    leave = new AbortController();
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const slow = async () => {
      begun++;
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
    leave.abort();
    await Promise.allSettled(pending.splice(0));
    await toys.close();
  });

  const from = (address: string) => ({ 'X-Forwarded-For': address });
  const ask = (address: string, path: string) => toys.ask(path, { headers: from(address) });
  /** Begins so many requests that are answered later. */
  async function begin(address: string, count: number, path = '/slow') {
    const before = begun;
    for (let nth = 0; nth < count; nth++) pending.push(ask(address, path));
    await eventually(() => begun === before + count);
  }
  async function open(address: string) {
    const response = await fetch(`${toys.url}/stream`, { headers: from(address), signal: leave.signal });
    if (!response.ok) await response.text();
    return response;
  }
  const isTold = ({ status, headers, json }: Told, expected: number) => {
    expect(status).to.equal(expected);
    expect(Number(headers.get('retry-after'))).to.be.greaterThan(0);
    expect(json.error).to.be.a('string');
  };

  for (const path of ['/slow', '/slowly-admitted'])
    it(`are requests under way, such as ${path}: of one network two thirds of what there may be`, async () => {
      await begin('192.0.2.1', 6, path);
      isTold(await ask('192.0.2.1', '/toys'), 429);
      expect((await ask('192.0.2.2', '/toys')).status).to.equal(200);
      answer();
      await Promise.all(pending);
      expect((await ask('192.0.2.1', '/toys')).status).to.equal(200);
    });

  it('tell networks of IPv6 apart by their /64, whatever address of it asks', async () => {
    for (let host = 1; host <= 6; host++) await begin(`2001:db8:0:1::${host}`, 1);
    isTold(await ask('2001:db8:0:1::7', '/toys'), 429);
    expect((await ask('2001:db8:0:2::7', '/toys')).status).to.equal(200);
  });

  it('are full only when many have it: then who comes is told that everybody has to wait', async () => {
    for (let network = 1; network <= 9; network++) await begin(`192.0.2.${network}`, 1);
    isTold(await ask('192.0.2.10', '/toys'), 503);
    isTold(await ask('192.0.2.1', '/toys'), 429);
  });

  it('are bodies, also small ones: they are counted until their work is over', async () => {
    const post = (address: string, path: string) =>
      toys.post(path, JSON.stringify({ text: 'x' }).padEnd(BODY), from(address));
    const posted = [1, 2, 3, 4, 5].map(() => post('192.0.2.1', '/slow'));
    pending.push(...posted);
    await eventually(() => begun === 5);
    expect(budgets.bodies.used()).to.equal(5 * BODY * BODY_COST);
    // Otherwise it would be a request too many.
    const large = (address: string) => toys.post('/toys', `{}${' '.repeat(1.5 * BODY)}`, from(address));
    isTold(await large('192.0.2.1'), 429);
    expect((await large('192.0.2.2')).status).to.equal(200);
    answer();
    await Promise.all(posted);
    await eventually(() => budgets.bodies.used() === 0);
    expect((await large('192.0.2.1')).status).to.equal(200);
  });

  it('are streams, which are no requests under way', async () => {
    for (let nth = 0; nth < 6; nth++) expect((await open('192.0.2.1')).status).to.equal(200);
    expect([budgets.streams.used(), budgets.requests.used()]).to.deep.equal([6, 0]);
    isTold(await ask('192.0.2.1', '/stream'), 429);
    expect((await toys.ask('/stream', { method: 'HEAD', headers: from('192.0.2.1') })).status).to.equal(200);
    expect((await ask('192.0.2.1', '/toys')).status).to.equal(200);
    expect((await open('192.0.2.2')).status).to.equal(200);
    leave.abort();
    await eventually(() => budgets.streams.used() === 0);
    leave = new AbortController();
    expect((await open('192.0.2.1')).status).to.equal(200);
  });
});
