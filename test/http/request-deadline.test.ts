/** Requests beyond their deadline: their work is aborted, and holds its budget until it ends. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { expect } from 'chai';
import { reindexRoutes } from '../../adapters/http/logs/reindex.js';
import { BODY_COST, createBudgets } from '../../adapters/http/server/budgets.js';
import { createBudget } from '../../application/concurrency/limiters.js';
import type { ReindexReport, StartedReindex } from '../../application/logs/admin/reindex.js';
import { echo, serveToys, type Toys } from './toy-http-service.js';

describe('overdue request', () => {
  let toys: Toys;
  const budget = createBudget('toys', 1_000_000);
  const budgets = createBudgets();
  /** The signal of the slow request in progress. */
  let signal = AbortSignal.abort();
  let finish = () => {};
  let lateSignal: Promise<AbortSignal>;
  let started: () => Promise<StartedReindex>;
  /** Milliseconds added to the monotonic clock. */
  let addedMs = 0;
  const { now } = performance;
  before(async () => {
    const slowRoute = echo({
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
    const lateRoute = echo({
      path: '/late',
      handle: (request) => {
        lateSignal = new Promise((resolve) => {
          finish = () => resolve(request.signal);
        });
        return lateSignal.then(() => ({ status: 200, body: {} }));
      },
    });
    // Authenticating again after a late body takes most of the time allowed for an answer.
    let admissions = 0;
    const againRoute = echo({
      path: '/again',
      body: 'bytes',
      answerMs: 600_000,
      admit() {
        if (++admissions === 2) addedMs += 600_000;
      },
      handle: () => new Promise(() => {}),
    });
    const reindex = { start: () => started(), progress: async () => undefined };
    const admit = () => ({ actor: 'api', producerId: 'api' });
    const routes = [slowRoute, lateRoute, againRoute, ...reindexRoutes({ reindex, admit, security: [] })];
    toys = await serveToys(routes, {}, { answerMs: 1, budgets });
  });
  after(() => {
    performance.now = now;
    return toys.close();
  });

  it('answers 503, and aborts the work', async () => {
    const { status } = await toys.post('/slow', '{}');
    expect(status).to.equal(503);
    expect(signal.aborted).to.equal(true);
    finish();
  });

  it('aborts the signal for work that reads it only later', async () => {
    expect((await toys.post('/late', '')).status).to.equal(503);
    finish();
    expect((await lateSignal).aborted).to.equal(true);
  });

  it('answers 503 while a long job is still starting', async () => {
    started = () => new Promise(() => {});
    for (const path of ['/api/reindex', '/api/reindex?async=true'])
      expect((await toys.post(path, '')).status, path).to.equal(503);
  });

  it('answers 503 in time when the caller is authenticated twice', async () => {
    performance.now = () => now.call(performance) + addedMs;
    const sent = request(`${toys.url}/again`, { method: 'POST', headers: { expect: '100-continue' } });
    sent.flushHeaders();
    await once(sent, 'continue');
    sent.end('a body');
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    performance.now = now;
    expect([response.statusCode, addedMs]).to.deep.equal([503, 600_000]);
    response.resume();
  });

  it('does not apply to a long job that has started and whose caller waits for it', async () => {
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

  it("holds its request slot and its body's budget until the work ends", async () => {
    const before = budgets.requests.used();
    await toys.post('/slow', 'x'.repeat(1000));
    expect([budget.used(), budgets.requests.used()]).to.deep.equal([1000 * BODY_COST, before + 1]);
    finish();
    await new Promise(setImmediate);
    expect([budget.used(), budgets.requests.used()]).to.deep.equal([0, before]);
  });
});
