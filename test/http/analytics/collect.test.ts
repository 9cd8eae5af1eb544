/** Collecting over HTTP: which hits are counted, ignored or rejected, and what is stored of them. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { ADMIN, asAdmin, FIREFOX, SAFARI, useAnalytics } from '../../support/analytics-node.js';
import { ask, send } from '../../support/http-spec.js';

const IGNORED = (reason: string) => ({ accepted: false, reason });
const ACCEPTED = { accepted: true };

describe('collecting hits', function () {
  this.timeout(60_000);
  const nodes = useAnalytics({
    '--server-trusted-proxies': '127.0.0.1',
    '--analytics-country-header': 'X-Country',
  });
  const { site, collect, written, when } = nodes;
  const hitsOf = async (id: string) => (await written(id)).flatMap(({ data }) => data.secret.hits);

  it('answers once a page view is in the log, which stores only the fields that reports use', async () => {
    const id = await site();
    const payload = {
      site: id,
      path: '/pricing/?plan=pro#top',
      referrer: 'https://www.news.example/article?id=7',
      campaign: { utm_source: 'news', utm_medium: 'mail', utm_campaign: 'spring' },
    };
    expect(await collect(payload)).to.deep.equal(ACCEPTED);
    const [event, ...more] = await written(id);
    expect(more).to.deep.equal([]);
    expect(event?.data).to.include({ siteId: id, views: 1, events: 0 });
    expect(event?.data.secret.hits).to.deep.equal([
      {
        path: '/pricing/',
        referrer: 'https://news.example',
        campaign: { source: 'news', medium: 'mail', campaign: 'spring' },
        browser: 'Firefox',
        os: 'Linux',
        device: 'desktop',
      },
    ]);
  });

  it('counts an event with the properties that its site allows', async () => {
    const id = await site({ allowedEventProperties: ['plan', 'seats'] });
    const properties = { plan: 'pro', seats: 3, email: 'ada@example.org' };
    expect(
      await collect({ site: id, event: 'signup', path: '/a', properties }, { 'user-agent': SAFARI }),
    ).to.deep.equal(ACCEPTED);
    expect(await hitsOf(id)).to.deep.equal([
      {
        path: '/a',
        event: 'signup',
        properties: [
          { name: 'plan', value: 'pro' },
          { name: 'seats', value: 3 },
        ],
        browser: 'Safari',
        os: 'iOS',
        device: 'mobile',
      },
    ]);
  });

  it('accepts JSON under any content type, as beacons send it', async () => {
    const id = await site();
    for (const type of [
      'text/plain;charset=UTF-8',
      'application/x-www-form-urlencoded',
      'image/png',
      'application/json; charset=latin1',
    ])
      expect(await collect({ site: id }, { 'content-type': type }), type).to.deep.equal(ACCEPTED);
    expect(await hitsOf(id)).to.have.lengthOf(4);
  });

  it('ignores case and surrounding spaces of the site id', async () => {
    const id = await site();
    expect(await collect({ site: ` ${id.toUpperCase()} ` })).to.deep.equal(ACCEPTED);
  });

  describe('ignores with 202', () => {
    const foreign = { origin: 'https://evil.test' };

    it('unknown sites', async () => {
      expect(await collect({ site: 'nobody' })).to.deep.equal(IGNORED('unknown_site'));
      expect(await collect({ site: 'no/id/../at all' })).to.deep.equal(IGNORED('unknown_site'));
      expect(await collect({ site: '' })).to.deep.equal(IGNORED('unknown_site'));
    });

    it('requests with a privacy signal', async () => {
      const id = await site();
      for (const name of ['dnt', 'sec-gpc'])
        expect(await collect({ site: id }, { [name]: '1' })).to.deep.equal(IGNORED('privacy_signal'));
      for (const [name, value] of [
        ['dnt', '0'],
        ['sec-gpc', '0'],
        ['dnt', 'unspecified'],
      ] as const)
        expect(await collect({ site: id }, { [name]: value })).to.deep.equal(ACCEPTED);
      expect(await hitsOf(id)).to.have.lengthOf(3);
    });

    it('hosts that do not belong to the site, whether from the origin, the referer or the payload', async () => {
      const id = await site();
      expect(await collect({ site: id }, foreign)).to.deep.equal(IGNORED('host_not_allowed'));
      expect(await collect({ site: id, host: 'example.com' }, foreign)).to.deep.equal(IGNORED('host_not_allowed'));
      expect(await collect({ site: id, host: 'evil.test' })).to.deep.equal(IGNORED('host_not_allowed'));
      expect(await collect({ site: id, host: 'example.com' }, { origin: 'null' })).to.deep.equal(
        IGNORED('host_not_allowed'),
      );
      expect(await collect({ site: id }, { origin: '' })).to.deep.equal(IGNORED('host_not_allowed'));
      expect(await collect({ site: id, host: 'Shop.Example.com:8443' })).to.deep.equal(ACCEPTED);
      expect(await collect({ site: id }, { origin: '', referer: 'https://example.com/x' })).to.deep.equal(ACCEPTED);
      expect(await collect({ site: id, path: 'https://www.example.com/x' }, { origin: '' })).to.deep.equal(ACCEPTED);
    });

    it('hits of a site without domains, unless it has an ingest token', async () => {
      const open = await site({ domains: [] });
      expect(await collect({ site: open })).to.deep.equal(IGNORED('host_not_allowed'));
      const server = await site({ domains: [], ingestToken: 'open-sesame' });
      expect(await collect({ site: server }, { origin: '', 'x-analytics-token': 'open-sesame' })).to.deep.equal(
        ACCEPTED,
      );
    });

    it("requests without the site's ingest token", async () => {
      const id = await site({ ingestToken: 'open-sesame' });
      expect(await collect({ site: id })).to.deep.equal(IGNORED('ingest_token_required'));
      expect(await collect({ site: id }, { 'x-analytics-token': 'open-sesam' })).to.deep.equal(
        IGNORED('ingest_token_required'),
      );
      expect(await collect({ site: id }, { 'x-analytics-token': 'open-sesame' })).to.deep.equal(ACCEPTED);
    });

    it('with the first applicable reason', async () => {
      const id = await site({ ingestToken: 'open-sesame' });
      const all = { ...foreign, dnt: '1' };
      expect(await collect({ site: 'nobody' }, all)).to.deep.equal(IGNORED('unknown_site'));
      expect(await collect({ site: id }, all)).to.deep.equal(IGNORED('privacy_signal'));
      expect(await collect({ site: id }, foreign)).to.deep.equal(IGNORED('host_not_allowed'));
    });
  });

  it('counts bots by default', async () => {
    const id = await site();
    expect(await collect({ site: id }, { 'user-agent': 'Googlebot/2.1' })).to.deep.equal(ACCEPTED);
  });

  describe('rejects', () => {
    const wrong: readonly (readonly [body: unknown, error: RegExp])[] = [
      ['{"site":', /JSON/],
      ['"demo"', /^The body is/],
      ['null', /^The body is/],
      [{}, /^site is required/],
      [{ site: 1 }, /^site /],
      [{ site: null }, /^site /],
      [{ site: 'a', kind: 'click' }, /^kind /],
      [{ site: 'a', kind: 'event' }, /^event /],
      [{ site: 'a', kind: 'event', event: '  ' }, /^event /],
      [{ site: 'a', event: 1 }, /^event /],
      [{ site: 'a', path: {} }, /^path /],
      [{ site: 'a', host: [] }, /^host /],
      [{ site: 'a', referrer: 1 }, /^referrer /],
      [{ site: 'a', campaign: 'x' }, /^campaign /],
      [{ site: 'a', campaign: { utm_source: 1 } }, /^campaign\.utm_source /],
      [{ site: 'a', properties: [] }, /^properties /],
    ];
    for (const [body, error] of wrong)
      it(JSON.stringify(body), () => when('POST', '/api/collect', { body }).thenRefused(400, { error }));

    it('bodies over 32 KiB', async () => {
      const id = await site();
      const body = { site: id, properties: { text: 'x'.repeat(32 * 1024) } };
      await when('POST', '/api/collect', { body }).thenRefused(413);
      const most = { site: id, properties: { text: 'x'.repeat(31 * 1024) } };
      await when('POST', '/api/collect', {
        body: most,
        headers: { origin: 'https://example.com' },
      }).thenAnswered(202, ACCEPTED);
    });
  });

  it('distinguishes the visitors of a day by address and user agent, with different ids at another site', async () => {
    const [one, two] = [await site(), await site()];
    const from = (address: string, agent = FIREFOX) => ({ 'x-forwarded-for': address, 'user-agent': agent });
    for (const headers of [from('203.0.113.1'), from('203.0.113.1'), from('203.0.113.2'), from('203.0.113.1', SAFARI)])
      await collect({ site: one }, headers);
    await collect({ site: two }, from('203.0.113.1'));
    const visitorsOf = async (id: string) => (await written(id)).flatMap(({ data }) => data.secret.visitors);
    const [atOne, atTwo] = [await visitorsOf(one), await visitorsOf(two)];
    expect(atOne).to.have.lengthOf(3);
    expect(new Set([...atOne, ...atTwo])).to.have.lengthOf(4);
    for (const each of atOne) expect(each).to.match(/^[0-9a-f]{16}$/);
  });

  it('uses the country header of a trusted proxy, and drops invalid countries', async () => {
    const id = await site();
    for (const country of ['de', 'XX!', 'none', 'XX', 'xx', 'ZZ', 'T1'])
      await collect({ site: id }, { 'x-country': country });
    const [first, ...others] = (await hitsOf(id)).map(({ country }) => country);
    expect(first).to.equal('DE');
    expect(new Set(others)).to.deep.equal(new Set([undefined]));
  });

  it('batches concurrent hits into shared events', async () => {
    const id = await site();
    await Promise.all(Array.from({ length: 50 }, (_, n) => collect({ site: id, path: `/${n}` })));
    const events = await written(id);
    expect(events.flatMap(({ data }) => data.secret.hits)).to.have.lengthOf(50);
    // How many hits arrive within the 20 ms of a batch depends on the machine.
    expect(events.length).to.be.lessThan(50);
  });

  describe('CORS headers for pages of other origins', () => {
    const headers = { origin: 'https://example.com' };

    it('allow collecting, in answers and errors alike', async () => {
      const id = await site();
      const answers = [
        await ask(nodes.bases[0]!, 'POST', '/api/collect', { body: { site: id }, headers }),
        await ask(nodes.bases[0]!, 'POST', '/api/collect', { body: '{', headers }),
        await ask(nodes.bases[0]!, 'OPTIONS', '/api/collect', { headers }),
      ];
      expect(answers.map(({ status }) => status)).to.deep.equal([202, 400, 204]);
      for (const answer of answers) {
        expect(answer.headers.get('access-control-allow-origin')).to.equal('https://example.com');
        expect(answer.headers.get('access-control-allow-credentials')).to.equal('true');
        expect(answer.headers.get('vary')).to.match(/\bOrigin\b/);
        expect(answer.headers.get('cross-origin-resource-policy')).to.equal('cross-origin');
      }
      const allowed = answers[2]!.headers.get('access-control-allow-headers')?.toLowerCase();
      expect(allowed).to.include('content-type').and.include('x-analytics-token');
      expect(answers[2]!.headers.get('access-control-allow-methods')).to.include('POST');
    });

    it('are not sent for any other route', async () => {
      for (const [method, path] of [
        ['GET', '/api/sites'],
        ['OPTIONS', '/api/sites'],
        ['GET', '/health'],
      ] as const) {
        const answer = await ask(nodes.bases[0]!, method, path, { headers, token: ADMIN });
        expect(answer.headers.has('access-control-allow-origin'), path).to.equal(false);
      }
    });
  });

  it('answers 405 with the allowed methods', async () => {
    const { status, headers } = await send(nodes.bases[0]!, { method: 'GET', path: '/api/collect' });
    expect(status).to.equal(405);
    expect(headers.allow).to.include('POST');
  });

  it('records no content of ignored hits, neither in the log nor in the attempts', async () => {
    const id = await site();
    const secret = `/where-${randomUUID()}`;
    await collect({ site: id, path: secret, event: 'secret' }, { dnt: '1' });
    await collect({ site: 'nobody-there', path: secret }, { 'sec-gpc': '1' });
    expect(await written(id)).to.deep.equal([]);
    for (const of of [id, 'nobody-there']) {
      const { body } = await when('GET', `/api/collect-attempts?site=${of}`, asAdmin()).thenAnswered(200);
      expect(body.attempts).to.have.lengthOf(1);
      expect(JSON.stringify(body)).not.to.include('where-').and.not.to.include('secret');
    }
  });
});

describe('collecting with changed privacy settings', function () {
  this.timeout(60_000);
  const { site, collect } = useAnalytics({
    '--analytics-honor-do-not-track': 'false',
    '--analytics-filter-bots': 'true',
    '--analytics-country-header': 'X-Country',
  });

  it('counts hits with a privacy signal, and ignores bots', async () => {
    const id = await site();
    expect(await collect({ site: id }, { dnt: '1' })).to.deep.equal({ accepted: true });
    expect(await collect({ site: id }, { 'user-agent': 'Googlebot/2.1' })).to.deep.equal(IGNORED('bot'));
  });
});
