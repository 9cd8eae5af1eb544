/** Rebuilds and checks of read models on the operations port, over builds that end when the test lets them. */
import { eventually } from '@annals/engines/testing/condition.js';
import { silentLogger } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { reindexRoutes } from '../../../adapters/http/console/reindex.js';
import { operationsPolicy } from '../../../adapters/http/operations.js';
import { UnavailableError } from '../../../application/ports/index.js';
import { BuildInProgress, type ReadModel, type Rebuilder } from '../../../projections/kernel/index.js';
import { httpSpec } from '../../support/http-spec.js';
import { serveToys, type Toys } from '../toy-http-service.js';

type Options = Parameters<Rebuilder['check']>[1];

describe('rebuilds on the operations port', () => {
  const models = ['toys.contents', 'toys.shelf'].map((name) => ({ name, version: 1 }) as ReadModel);
  let served: Toys;
  let options: Options;
  let end: (error?: Error) => void;
  const http = httpSpec(() => served.url);
  const running = <Result>(result: Result) =>
    new Promise<Result>((resolve, reject) => {
      end = (error) => (error ? reject(error) : resolve(result));
    });
  const lifecycle: Pick<Rebuilder, 'rebuild' | 'check'> = {
    rebuild(_, given) {
      options = given;
      return running('toys_contents_2');
    },
    check(_, given) {
      options = given;
      return running([{ id: 'row-of-ada', problem: 'missing' }]);
    },
  };
  beforeEach(async () => {
    const { signal } = new AbortController();
    served = await serveToys(reindexRoutes({ models, lifecycle, logger: silentLogger, signal }), operationsPolicy('1'));
  });
  afterEach(() => served.close());

  /** Resolves with the answer once the build has called back. */
  async function start(path: string, onBegun = () => options.onBegun?.()) {
    const before = options;
    const answer = fetch(served.url + path, { method: 'POST' });
    await eventually(() => options !== before);
    onBegun();
    return answer;
  }
  const runs = async () => (await http.given('GET', '/reindex')).runs;
  const ended = () =>
    eventually(async () => (await runs()).every(({ state }: { state: string }) => state !== 'running'));

  it('answers when it has begun, then reports its progress and its end', async () => {
    expect(await runs()).to.deep.equal([]);
    const answer = await start('/projections/toys.contents/rebuild');
    expect(answer.status).to.equal(202);
    const common = { projection: 'toys.contents', kind: 'rebuild' };
    expect(await answer.json()).to.deep.include({ ...common, state: 'running', events: 0 });
    options.onProgress?.({ events: 7, position: 2n ** 60n }, 2n ** 61n);
    const [run] = await runs();
    expect(run).to.deep.include({ ...common, events: 7, position: String(2n ** 60n), until: String(2n ** 61n) });
    end();
    await ended();
    const [done] = await runs();
    expect(done).to.deep.include({ ...common, state: 'done' });
    expect(Date.parse(done.endedAt)).to.be.at.least(Date.parse(done.startedAt));
  });

  it('counts the rows that differ, without showing their owners', async () => {
    await start('/projections/toys.contents/check');
    end();
    await ended();
    const [run] = await runs();
    expect(run).to.deep.include({ kind: 'check', state: 'done', differences: 1 });
    expect(JSON.stringify(run)).not.to.include('row-of-ada');
  });

  it('runs one at a time, here and in other processes', async () => {
    await start('/projections/toys.contents/check');
    const { when } = http;
    for (const { name } of models)
      await when('POST', `/projections/${name}/rebuild`).thenRefused(409, { error: /one at a time/ });
    end();
    await ended();
    const elsewhere = await start('/projections/toys.shelf/rebuild', () => end(new BuildInProgress('elsewhere')));
    expect(elsewhere.status).to.equal(409);
    expect(((await elsewhere.json()) as { error: string }).error).to.match(/another process/);
    expect((await runs()).map(({ projection }: { projection: string }) => projection)).to.deep.equal(['toys.contents']);
  });

  it('reports failures before and after it has begun', async () => {
    const answer = await start('/projections/toys.contents/check', () => end(new UnavailableError('a store is away')));
    expect(answer.status).to.equal(503);
    await start('/projections/toys.shelf/rebuild');
    end(new Error('an inner matter'));
    await ended();
    for (const run of await runs()) {
      expect(run).to.include({ state: 'failed' });
      expect(run.error).to.match(/Start it again/);
    }
  });

  it('knows its read models only', async () => {
    for (const what of ['rebuild', 'check'])
      await http.when('POST', `/projections/nonsense/${what}`).thenRefused(404, { error: /no read model/ });
  });
});
