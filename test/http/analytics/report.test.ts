/** Reports over HTTP: they include every acknowledged hit, and nothing of deleted sites. */
import { expect } from 'chai';
import { asAdmin, FIREFOX, SAFARI, useAnalytics } from '../../support/analytics-node.js';
import { ask } from '../../support/http-spec.js';

const today = () => new Date().toISOString().slice(0, 10);
const DAY_MS = 86_400_000;

describe('analytics report', function () {
  this.timeout(60_000);
  const nodes = useAnalytics({ '--server-trusted-proxies': '127.0.0.1' }, 2);
  const { site, collect, when } = nodes;
  const report = async (id: string, more = '') =>
    (await when('GET', `/api/report?site=${id}${more}`, asAdmin()).thenAnswered(200)).body;

  it('has zero totals and empty lists for a site without hits', async () => {
    const id = await site();
    const body = await report(id, '&days=2');
    const none = { pageviews: 0, events: 0, uniques: 0 };
    const yesterday = new Date(Date.now() - DAY_MS).toISOString().slice(0, 10);
    expect(body.generatedAt).to.match(/^\d{4}-\d\d-\d\dT.*Z$/);
    expect({ ...body, generatedAt: 0 }).to.deep.equal({
      site: id,
      generatedAt: 0,
      range: { days: 2, start: yesterday, end: today() },
      totals: none,
      // The site was created today, so there is nothing to compare with.
      comparison: {
        previous: { ...none, complete: false },
        previousLastDay: none,
        delta: { pageviews: null, events: null, uniques: null },
      },
      series: [yesterday, today()].map((date) => ({ date, ...none })),
      ...Object.fromEntries(
        [
          'pages',
          'entryPages',
          'events',
          'goals',
          'referrers',
          'campaigns',
          'browsers',
          'os',
          'devices',
          'countries',
          'properties',
          'trends',
        ].map((list) => [list, []]),
      ),
    });
  });

  it('includes each acknowledged hit in the next report', async () => {
    const id = await site();
    for (let n = 1; n <= 5; n++) {
      await collect({ site: id, path: `/${n}` });
      expect((await report(id)).totals, `after ${n}`).to.deep.equal({ pageviews: n, events: 0, uniques: 1 });
    }
  });

  it('includes hits collected on another node, given their position', async () => {
    const id = await site();
    const body = { site: id, host: 'example.com' };
    const { headers } = await when('POST', '/api/collect', { body }).thenAnswered(202);
    const seen = { 'if-position': headers.get('position')! };
    const page = await ask(nodes.bases[1]!, 'GET', `/api/report?site=${id}`, asAdmin({ headers: seen }));
    expect(page.body.totals).to.deep.equal({ pageviews: 1, events: 0, uniques: 1 });
  });

  it('has totals, comparison, series, lists, properties and trends', async () => {
    const id = await site({ allowedEventProperties: ['plan'] });
    const campaign = { utm_source: 'news', utm_medium: 'mail', utm_campaign: 'spring' };
    const from = (address: string, agent: string) => ({ 'x-forwarded-for': address, 'user-agent': agent });
    await collect(
      [
        { site: id, path: '/a', campaign },
        { site: id, path: '/b' },
        { site: id, path: '/a' },
      ],
      from('203.0.113.1', FIREFOX),
    );
    await collect({ site: id, path: '/a', referrer: 'https://www.news.example/x' }, from('203.0.113.2', SAFARI));
    await collect({ site: id, event: 'buy', properties: { plan: 'pro', card: '4111' } }, from('203.0.113.2', SAFARI));
    const body = await report(id, '&days=1');
    expect(body.totals).to.deep.equal({ pageviews: 4, events: 1, uniques: 2 });
    expect(body.comparison.delta).to.deep.equal({ pageviews: null, events: null, uniques: null });
    expect(body.series).to.deep.equal([{ date: today(), pageviews: 4, events: 1, uniques: 2 }]);
    expect(body.pages).to.deep.equal([
      { name: '/a', count: 3 },
      { name: '/b', count: 1 },
    ]);
    expect(body.events).to.deep.equal([{ name: 'buy', count: 1 }]);
    expect(body.referrers).to.deep.equal([
      { name: '(direct)', count: 3 },
      { name: 'https://news.example', count: 1 },
    ]);
    expect(body.campaigns).to.deep.equal([{ source: 'news', medium: 'mail', campaign: 'spring', count: 1 }]);
    expect(body.browsers).to.deep.equal([
      { name: 'Firefox', count: 3 },
      { name: 'Safari', count: 2 },
    ]);
    expect(body.os).to.deep.equal([
      { name: 'Linux', count: 3 },
      { name: 'iOS', count: 2 },
    ]);
    expect(body.devices).to.deep.equal([
      { name: 'desktop', count: 3 },
      { name: 'mobile', count: 2 },
    ]);
    expect(body.countries).to.deep.equal([]);
    expect(body.properties).to.deep.equal([{ event: 'buy', property: 'plan', value: 'pro', count: 1 }]);
    expect(body.trends).to.deep.include({
      category: 'campaigns',
      id: '["news","mail","spring"]',
      label: 'news / mail / spring',
      total: 1,
      values: [{ date: today(), count: 1 }],
    });
  });

  it('counts views without a referrer as direct, and unrecognised user agents as unknown', async () => {
    const id = await site();
    const hits = [
      { site: id, path: '/a' },
      { site: id, path: '/b', referrer: 'https://shop.example.com/cart' },
      { site: id, path: '/c', referrer: 'https://www.example.com/' },
      { site: id, path: '/d', referrer: 'https://example.com.evil.test/' },
      { site: id, event: 'buy' },
    ];
    await collect(hits, { 'user-agent': 'curl' });
    const body = await report(id, '&days=1');
    expect(body.referrers).to.deep.equal([
      { name: '(direct)', count: 3 },
      { name: 'https://example.com.evil.test', count: 1 },
    ]);
    for (const list of ['browsers', 'os', 'devices'])
      expect(body[list], list).to.deep.equal([{ name: '(unknown)', count: 5 }]);
    expect(body.countries).to.deep.equal([]);
  });

  it('counts views that did not come from the site itself as entries, and filters by them', async () => {
    const id = await site();
    await collect([
      { site: id, path: '/a', referrer: 'https://news.example/' },
      { site: id, path: '/b', referrer: 'https://example.com' },
      { site: id, path: '/b', referrer: 'https://www.example.com/a' },
      { site: id, path: '/b' },
      { site: id, path: '/b', event: 'buy' },
    ]);
    const { pages, entryPages } = await report(id);
    expect(pages[0]).to.deep.equal({ name: '/b', count: 3 });
    expect(entryPages).to.deep.equal([
      { name: '/a', count: 1 },
      { name: '/b', count: 1 },
    ]);
    const filtered = await report(id, `&filters=${encodeURIComponent('{"entryPages":"/b"}')}`);
    expect(filtered.totals).to.deep.equal({ pageviews: 1, events: 0, uniques: null });
    expect(filtered.entryPages).to.deep.equal([{ name: '/b', count: 1 }]);
  });

  it('ranks a popular page first even after twelve requests full of invented pages', async () => {
    const id = await site();
    const views = async (requests: number, pathOf: (n: number) => string) => {
      for (let request = 0; request < requests; request++)
        await collect(Array.from({ length: 100 }, (_, n) => ({ site: id, path: pathOf(100 * request + n) })));
    };
    await views(12, (n) => `/invented/${n}`);
    await views(5, () => '/real');
    const { pages, totals } = await report(id, '&days=1');
    expect(pages[0]).to.deep.equal({ name: '/real', count: 500 });
    expect(pages.at(-1).name).to.equal('(other)');
    expect(totals.pageviews).to.equal(1700);
  });

  it('counts a repeated request with an Idempotency-Key once', async () => {
    const id = await site();
    const key = { 'idempotency-key': id };
    for (let n = 0; n < 3; n++) await collect({ site: id }, key);
    expect((await report(id)).totals).to.deep.equal({ pageviews: 1, events: 0, uniques: 1 });
  });

  it('sums the hits of two nodes, and counts a visitor of both once', async () => {
    const id = await site();
    await Promise.all(Array.from({ length: 40 }, (_, n) => collect({ site: id }, {}, n % 2)));
    const last = (
      await when('POST', '/api/collect', {
        body: { site: id, host: 'example.com' },
        headers: { 'user-agent': FIREFOX },
      }).thenAnswered(202)
    ).headers;
    const { body } = await ask(
      nodes.bases[0]!,
      'GET',
      `/api/report?site=${id}`,
      asAdmin({ headers: { 'if-position': last.get('position')! } }),
    );
    expect(body.totals).to.deep.equal({ pageviews: 41, events: 0, uniques: 1 });
  });

  it('covers the requested number of days, or from start to end', async () => {
    const id = await site();
    expect((await report(id)).range.days).to.equal(30);
    expect((await report(id, '&days=5000')).range.days).to.equal(730);
    const { range, series } = await report(id, '&start=2026-02-27&end=2026-03-01');
    expect(range).to.deep.equal({ days: 3, start: '2026-02-27', end: '2026-03-01' });
    expect(series.map(({ date }: { date: string }) => date)).to.deep.equal(['2026-02-27', '2026-02-28', '2026-03-01']);
    for (const wrong of [
      'days=0',
      'days=-1',
      'days=1.5',
      'days=x',
      'days=',
      'start=2026-02-30&end=2026-03-01',
      'start=2026-02-01',
      'end=2026-02-01',
      'start=2026-02-02&end=2026-02-01',
      'limit=0',
      'limit=1001',
    ])
      await when('GET', `/api/report?site=${id}&${wrong}`, asAdmin()).thenRefused(400);
  });

  it('counts only hits with the wanted values, and has the hours of a day', async () => {
    const id = await site();
    const campaign = { utm_source: 'news', utm_medium: 'mail' };
    await collect([
      { site: id, path: '/a', referrer: 'https://one.example/', campaign },
      { site: id, path: '/a', event: 'buy' },
      { site: id, path: '/b' },
    ]);
    const filtered = (filters: object, more = '') =>
      report(id, `&days=1${more}&filters=${encodeURIComponent(JSON.stringify(filters))}`);
    const ofPage = await filtered({ pages: '/a' });
    expect(ofPage.totals).to.deep.equal({ pageviews: 1, events: 1, uniques: null });
    expect(ofPage.referrers).to.deep.equal([{ name: 'https://one.example', count: 1 }]);
    expect(ofPage.events).to.deep.equal([{ name: 'buy', count: 1 }]);
    expect(ofPage).to.deep.include({ filters: { pages: '/a' }, unlisted: 0, properties: [], trends: [] });
    expect(ofPage.notKept).to.include('uniques');
    expect((await filtered({ campaigns: ['news', 'mail', ''] })).pages).to.deep.equal([{ name: '/a', count: 1 }]);
    expect((await filtered({ pages: '/b', events: 'buy' })).totals.events).to.equal(0);
    await when('GET', `/api/report?site=${id}&filters=pages`, asAdmin()).thenRefused(400, { error: /filters/ });

    const { hours } = await report(id, '&days=1');
    const sum = (metric: string) =>
      hours.reduce((all: number, hour: { [name: string]: number }) => all + hour[metric]!, 0);
    expect([hours.length, sum('pageviews'), sum('events')]).to.deep.equal([24, 2, 1]);
  });

  it('requires an existing site and the admin token', async () => {
    const id = await site();
    await when('GET', '/api/report', asAdmin()).thenRefused(400, { error: /^site / });
    await when('GET', '/api/report?site=nobody', asAdmin()).thenRefused(404);
    await when('GET', `/api/report?site=${id}`).thenRefused(401);
  });

  it('has no data of a deleted site, nor of its former instance once it is recreated', async () => {
    const id = await site();
    await collect({ site: id, path: '/before' });
    expect((await report(id)).totals.pageviews).to.equal(1);
    const { body } = await when('DELETE', `/api/sites/${id}`, asAdmin()).thenAnswered(200);
    expect(body).to.deep.equal({ id, success: true, rowsDeleted: 1 });
    await when('GET', `/api/report?site=${id}`, asAdmin()).thenRefused(404);
    await when('POST', '/api/sites', asAdmin({ body: { id, domains: ['example.com'] } })).thenAnswered(201);
    expect((await report(id)).totals.pageviews).to.equal(0);
    await collect({ site: id, path: '/after' });
    expect((await report(id)).pages).to.deep.equal([{ name: '/after', count: 1 }]);
  });
});
