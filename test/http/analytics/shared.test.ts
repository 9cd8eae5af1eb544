/** Public links over HTTP: they show the reports of their site and nothing else, until they are revoked. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { asAdmin, useAnalytics } from '../../support/analytics-node.js';
import { ask } from '../../support/http-spec.js';

describe('public links', function () {
  this.timeout(60_000);
  const nodes = useAnalytics({}, 2);
  const { site, collect, when, given } = nodes;
  const share = async (id: string): Promise<string> => {
    const { site: shared } = await given('POST', `/api/sites/${id}/share`, asAdmin());
    const { origin, pathname, hash } = new URL(shared.shareUrl);
    expect(origin + pathname).to.equal(`${nodes.bases[0]}/share`);
    return hash.slice(1);
  };
  const read = (token: string, at = 0, more = '') =>
    ask(nodes.bases[at]!, 'GET', `/api/shared/report?days=7${more}`, { token });

  it('show the reports of their site, as many as are asked for', async () => {
    const id = await site({ name: 'Shop' });
    await collect([
      { site: id, path: '/a' },
      { site: id, path: '/b', event: 'Buy' },
    ]);
    const token = await share(id);
    expect(await share(id)).to.equal(token);
    const { status, body, headers } = await read(token);
    expect(status).to.equal(200);
    expect(headers.get('referrer-policy')).to.equal('no-referrer');
    expect(headers.get('cache-control')).to.equal('no-store');
    const { body: own } = await ask(nodes.bases[0]!, 'GET', `/api/report?site=${id}&days=7`, asAdmin());
    expect({ ...body, generatedAt: 0 }).to.deep.equal({ ...own, name: 'Shop', generatedAt: 0 });
    const filtered = await read(token, 0, `&filters=${encodeURIComponent('{"events":"Buy"}')}`);
    expect(filtered.body.totals).to.deep.equal({ pageviews: 0, events: 1, uniques: null });
    expect((await read(token, 0, '&filters=x')).status).to.equal(400);
    // Another site cannot be named.
    const other = await site();
    expect((await read(token, 0, `&site=${other}`)).body.site).to.equal(id);
  });

  it('open nothing else', async () => {
    const id = await site();
    const token = await share(id);
    for (const [method, path] of [
      ['GET', `/api/report?site=${id}`],
      ['GET', '/api/sites'],
      ['GET', '/api/auth/me'],
      ['GET', `/api/live?site=${id}`],
      ['GET', `/api/collect-attempts?site=${id}`],
      ['POST', '/api/cleanup'],
      ['PUT', `/api/sites/${id}`],
      ['POST', `/api/sites/${id}/share`],
      ['DELETE', `/api/sites/${id}/share`],
      ['DELETE', `/api/sites/${id}`],
    ] as const)
      await when(method, path, { token, ...(method === 'PUT' && { body: {} }) }).thenRefused(401);
    for (const method of ['POST', 'DELETE']) await when(method, `/api/sites/${id}/share`).thenRefused(401);
    await when('POST', '/api/sites/none/share', asAdmin()).thenRefused(404);
    await when('DELETE', '/api/sites/none/share', asAdmin()).thenRefused(404);
  });

  it('do not exist for other tokens, whether their site exists or not', async () => {
    const [shared, secret] = [await site(), await site()];
    const token = await share(shared);
    const [, mac] = token.split('.');
    for (const wrong of [
      undefined,
      '',
      'x',
      shared,
      `${shared}.`,
      `${token}x`,
      token.slice(0, -1),
      `${secret}.${mac}`,
      `none.${mac}`,
      `__proto__.${mac}`,
    ])
      await when('GET', '/api/shared/report', { token: wrong }).thenRefused(404, {
        error: /does not exist or was revoked/,
      });
  });

  it('end on every node when they are revoked, and do not come back', async () => {
    const id = await site();
    const token = await share(id);
    expect((await read(token, 1)).status).to.equal(200);
    const { site: after } = await given('DELETE', `/api/sites/${id}/share`, asAdmin());
    expect(after.shareUrl).to.equal(null);
    expect([(await read(token, 1)).status, (await read(token)).status]).to.deep.equal([404, 404]);
    const next = await share(id);
    expect(next).not.to.equal(token);
    expect([(await read(token, 1)).status, (await read(next, 1)).status]).to.deep.equal([404, 200]);
    await given('DELETE', `/api/sites/${id}`, asAdmin());
    expect((await read(next, 1)).status).to.equal(404);
    await site({ id });
    expect((await read(next)).status).to.equal(404);
  });

  it('are answered 429 beyond their rate', async () => {
    const twenty = () => Promise.all(Array.from({ length: 20 }, () => read('x')));
    // On a slow machine the next request may be allowed again.
    const refused = await eventually(async () => {
      await twenty();
      return when('GET', '/api/shared/report', { token: 'x' }).thenRefused(429);
    });
    expect(Number(refused.headers.get('retry-after'))).to.be.greaterThan(0);
  });
});
