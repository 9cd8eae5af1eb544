/** Recent collect attempts of a site, which help people who install a tracker and see no hits. */
import { expect } from 'chai';
import { asAdmin, useAnalytics } from '../../support/analytics-node.js';
import { ask } from '../../support/http-spec.js';

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('recent collect attempts of a site', function () {
  this.timeout(60_000);
  const nodes = useAnalytics({}, 2);
  const { site, collect, when } = nodes;
  const attempts = async (id: string) =>
    (await when('GET', `/api/collect-attempts?site=${id}`, asAdmin()).thenAnswered(200)).body.attempts;

  it('lists attempts newest first, with all documented fields', async () => {
    const id = await site();
    await collect({ site: id, path: '/a?x' });
    await collect({ site: id, host: 'evil.test', path: '/b', event: 'signup' });
    const [second, first, ...more] = await attempts(id);
    expect(more).to.deep.equal([]);
    for (const { timestamp } of [first, second]) expect(timestamp).to.match(ISO);
    expect({ ...first, timestamp: 0 }).to.deep.equal({
      accepted: true,
      reason: null,
      siteId: id,
      host: 'example.com',
      path: '/a',
      kind: 'pageview',
      eventName: null,
      timestamp: 0,
    });
    expect({ ...second, timestamp: 0 }).to.deep.equal({
      accepted: false,
      reason: 'host_not_allowed',
      siteId: id,
      host: 'evil.test',
      path: '/b',
      kind: 'event',
      eventName: 'signup',
      timestamp: 0,
    });
  });

  it('lists the newest fifty attempts', async () => {
    const id = await site();
    await collect(Array.from({ length: 60 }, (_, n) => ({ site: id, path: `/${n}` })));
    const newest = await attempts(id);
    expect(newest.map(({ path }: { path: string }) => path)).to.deep.equal(
      Array.from({ length: 50 }, (_, n) => `/${59 - n}`),
    );
  });

  it('records attempts for unknown site ids, and lists none where there were none', async () => {
    await collect({ site: 'Mistyped' });
    expect((await attempts('mistyped'))[0]).to.include({ reason: 'unknown_site', siteId: 'mistyped' });
    expect(await attempts('silent')).to.deep.equal([]);
    await when('GET', '/api/collect-attempts', asAdmin()).thenRefused(400, { error: /^site / });
  });

  it('deletes attempts with their site on every node; a site recreated under the id starts without any', async () => {
    const id = await site();
    for (const node of [0, 1]) await collect({ site: id, path: '/former' }, {}, node);
    const onEach = (position: string) =>
      Promise.all(
        nodes.bases.map(async (base) => {
          const options = asAdmin({ headers: { 'if-position': position } });
          return (await ask(base, 'GET', `/api/collect-attempts?site=${id}`, options)).body.attempts;
        }),
      );
    expect((await onEach('0')).map(({ length }) => length)).to.deep.equal([1, 1]);
    const positionAfter = async (method: string, path: string, body?: object) =>
      (await when(method, path, asAdmin(body && { body })).thenAnswered(body ? 201 : 200)).headers.get('position')!;
    expect(await onEach(await positionAfter('DELETE', `/api/sites/${id}`))).to.deep.equal([[], []]);
    const again = await positionAfter('POST', '/api/sites', { id, domains: ['example.com'] });
    expect(await onEach(again)).to.deep.equal([[], []]);
    await collect({ site: id, path: '/present' });
    const [first] = await onEach(again);
    expect(first.map(({ path }: { path: string }) => path)).to.deep.equal(['/present']);
  });
});
