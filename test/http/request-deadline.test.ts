/** Requests that take longer than an answer may: their work ends, and keeps its budget until it has. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { expect } from 'chai';
import { reindexRoutes } from '../../adapters/http/logs/reindex.js';
import { BODY_COST, createBudgets } from '../../adapters/http/server/budgets.js';
import { createBudget } from '../../application/concurrency/fair-share-budget.js';
import type { ReindexReport, StartedReindex } from '../../application/logs/admin/reindex.js';
import { echo, serveToys, type Toys } from './toy-http-service.js';

describe('a request that is overdue', () => {
  let toys: Toys;
  const budget = createBudget('toys', 1_000_000);
  const budgets = createBudgets();
  /** Of the work that is under way. */
  let signal = AbortSignal.abort();
  let finish = () => {};
  let askedLate: Promise<AbortSignal>;
  let started: () => Promise<StartedReindex>;
  /** Ms, of what only ever goes on. */
  let passed = 0;
  const { now } = performance;
  before(async () => {
    const slow = echo({
      path: '/slow',
      body: 'bytes',
      budget,
      handle: (request) => {
        signal = request.signal;
        return new Promise((resolve) => {
          finish = () => resolve({ status: 200, body: {} });
        });
      },
    });
    const late = echo({
      path: '/late',
      handle: (request) => {
        askedLate = new Promise((resolve) => {
          finish = () => resolve(request.signal);
        });
        return askedLate.then(() => ({ status: 200, body: {} }));
      },
    });
    // Who sends its body late is looked at again, which takes most of the time that an answer may take.
    let looks = 0;
    const again = echo({
      path: '/again',
      body: 'bytes',
      answerMs: 600_000,
      admit() {
        if (++looks === 2) passed += 600_000;
      },
      handle: () => new Promise(() => {}),
    });
    const reindex = { start: () => started(), progress: async () => undefined };
    const admit = () => ({ actor: 'api', producerId: 'api' });
    const routes = [slow, late, again, ...reindexRoutes({ reindex, admit, security: [] })];
    toys = await serveToys(routes, {}, { answerMs: 1, budgets });
  });
  after(() => {
    performance.now = now;
    return toys.close();
  });

  it('is told so, and its work that nobody waits for it', async () => {
    const { status } = await toys.post('/slow', '{}');
    expect(status).to.equal(503);
    expect(signal.aborted).to.equal(true);
    finish();
  });

  it('is told so that work too which asks only then', async () => {
    expect((await toys.post('/late', '')).status).to.equal(503);
    finish();
    expect((await askedLate).aborted).to.equal(true);
  });

  it('is told so where it would begin something long, too', async () => {
    started = () => new Promise(() => {});
    for (const path of ['/api/reindex', '/api/reindex?async=true'])
      expect((await toys.post(path, '')).status, path).to.equal(503);
  });

  it('is told so in time where its sender is looked at twice', async () => {
    performance.now = () => now.call(performance) + passed;
    const sent = request(`${toys.url}/again`, { method: 'POST', headers: { expect: '100-continue' } });
    sent.flushHeaders();
    await once(sent, 'continue');
    sent.end('a body');
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    performance.now = now;
    expect([response.statusCode, passed]).to.deep.equal([503, 600_000]);
    response.resume();
  });

  it('is not one that has begun what takes long, and whose caller waits for that', async () => {
    const report = { report: {}, reset: {} } as ReindexReport;
    const overdue = async () => {
      expect((await toys.post('/slow', '{}')).status).to.equal(503);
      finish();
      return { report, position: 7n };
    };
    started = async () => ({ id: 'x', position: 6n, done: overdue() });
    const { status, json } = await toys.post('/api/reindex', '');
    expect([status, json]).to.deep.equal([200, report]);
  });

  it('holds its place, and the budget of its body, until the work is over', async () => {
    const before = budgets.requests.used();
    await toys.post('/slow', 'x'.repeat(1000));
    expect([budget.used(), budgets.requests.used()]).to.deep.equal([1000 * BODY_COST, before + 1]);
    finish();
    await new Promise(setImmediate);
    expect([budget.used(), budgets.requests.used()]).to.deep.equal([0, before]);
  });
});
