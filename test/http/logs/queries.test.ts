/** Consistency of log queries over HTTP, and their cancellation when the client disconnects. */
import { expect } from 'chai';
import { queryRoutes } from '../../../adapters/http/logs/query.js';
import type { Answer } from '../../../adapters/http/server/answer.js';
import { createLogQueries } from '../../../application/logs/query/query-service.js';
import type { Searcher } from '../../../application/logs/query/searcher.js';
import type { Position, ProjectionProgress } from '../../../application/ports/index.js';
import { echo, serveToys, type Toys } from '../toy-http-service.js';

const PATHS = ['/api/logs', '/api/logs/aggregate?groupBy=level'];

describe('log queries over HTTP', () => {
  let indexed: Position;
  let appended: Position;
  /** The signals of the queries, in order. */
  let signals: AbortSignal[];
  let answer: () => Promise<unknown>;
  let toys: Toys;

  const projectionProgress: ProjectionProgress = {
    wait: async (_, position) => indexed >= position,
    latest: () => 0n,
    latestOf: () => 0n,
    position: () => indexed,
  };
  const searcher: Searcher = {
    async page(_, signal) {
      signals.push(signal);
      await answer();
      return Buffer.from('{}');
    },
    async aggregate(_, signal) {
      signals.push(signal!);
      await answer();
      return { buckets: [], total: 0 };
    },
    lastReceived: async () => undefined,
  };

  before(async () => {
    const admit = () => ({ producerId: 'api' }) as never;
    const queries = createLogQueries({
      searcher,
      budgetMs: 60_000,
      // Changes each time: no answer is cached.
      version: () => ({}),
      projectionProgress,
      latest: () => appended,
    });
    const routes = queryRoutes({ queries, tail: {} as never, admit, security: [] });
    const never = echo({ method: 'GET', path: '/never', handle: () => new Promise<Answer>(() => {}) });
    toys = await serveToys([...routes, never], {}, { answerMs: 1 });
  });
  after(() => toys.close());
  beforeEach(() => {
    [indexed, appended, signals] = [20n, 10n, []];
    answer = async () => {};
  });

  for (const path of PATHS) {
    it(`report pending consistency for the caller's position: ${path}`, async () => {
      const ask = async (position: string) => {
        const { headers } = await toys.ask(path, { headers: { 'if-position': position } });
        return [headers.get('position'), headers.get('consistency')];
      };
      expect(await ask('20')).to.deep.equal(['20', null]);
      expect(await ask('21')).to.deep.equal(['20', 'pending']);
      indexed = 21n;
      expect(await ask('21')).to.deep.equal(['21', null]);
    });

    it(`report pending consistency for records this node has appended: ${path}`, async () => {
      appended = 30n;
      expect((await toys.ask(path)).headers.get('consistency')).to.equal('pending');
      expect((await toys.ask(path, { headers: { 'if-position': '5' } })).headers.get('consistency')).to.equal(
        'pending',
      );
      indexed = 30n;
      expect((await toys.ask(path)).headers.get('consistency')).to.equal(null);
    });

    it(`may take as long as their own budget: ${path}`, async () => {
      answer = async () => expect((await toys.ask('/never')).status).to.equal(503);
      expect((await toys.ask(path)).status).to.equal(200);
    });

    it(`are aborted when the client disconnects: ${path}`, async () => {
      const client = new AbortController();
      const aborted = new Promise<void>((resolve) => {
        answer = () =>
          new Promise<void>((done) => {
            signals[0]?.addEventListener('abort', () => {
              resolve();
              done();
            });
            client.abort();
          });
      });
      await toys.ask(path, { signal: client.signal }).then(
        () => expect.fail('it was answered'),
        () => {},
      );
      await aborted;
      expect(signals[0]?.aborted).to.equal(true);
    });
  }
});
