/** Sites over HTTP: created, changed, listed and deleted with the admin token. */
import { randomUUID } from 'node:crypto';
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { asAdmin, useAnalytics } from '../../support/analytics-node.js';
import { ask } from '../../support/http-spec.js';

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('sites', function () {
  this.timeout(60_000);
  const nodes = useAnalytics({ '--analytics-app-url': 'https://stats.example/below' }, 2);
  const { site, collect, written, when, given } = nodes;
  const create = (body: unknown, headers = {}) => when('POST', '/api/sites', asAdmin({ body, headers }));
  const change = (id: string, body: unknown) => when('PUT', `/api/sites/${id}`, asAdmin({ body }));
  const remove = (id: string, headers = {}) => when('DELETE', `/api/sites/${id}`, asAdmin({ headers }));
  const listed = async (id: string, at = 0) => {
    const { body } = await ask(nodes.bases[at]!, 'GET', '/api/sites', asAdmin());
    return body.sites.find((each: { id: string }) => each.id === id);
  };

  it('creates a site and answers it without its token', async () => {
    const id = `shop-${randomUUID()}`;
    const domains = ['https://Shop.example/x', 'example.com:80'];
    const input = {
      id: ` ${id.toUpperCase()} `,
      name: ' My shop ',
      domains,
      allowedEventProperties: ['plan'],
      goals: ['Buy'],
      ingestToken: 'sesame',
    };
    const { body, headers } = await create(input).thenAnswered(201);
    expect(headers.get('position')).to.match(/^\d+$/);
    const { createdAt, updatedAt, ...shown } = body.site;
    expect(shown).to.deep.equal({
      id,
      name: 'My shop',
      domains: ['shop.example', 'example.com'],
      allowedEventProperties: ['plan'],
      goals: ['Buy'],
      hasIngestToken: true,
      snippet: `<script defer src="https://stats.example/below/m.js" data-site="${id}"></script>`,
      shareUrl: null,
    });
    expect(createdAt).to.match(ISO).and.equal(updatedAt);
    expect(await listed(id)).to.deep.equal(body.site);
  });

  it('creates a site from a name alone, or from an id alone', async () => {
    const suffix = randomUUID();
    const { body } = await create({ name: `Ada's ${suffix}!` }).thenAnswered(201);
    expect(body.site).to.include({ id: `adas_${suffix}`, name: `Ada's ${suffix}!`, hasIngestToken: false });
    const other = await create({ id: `only-${suffix}`, domains: 'a.example, b.example\nc.example' }).thenAnswered(201);
    expect(other.body.site).to.deep.include({
      name: `only-${suffix}`,
      domains: ['a.example', 'b.example', 'c.example'],
    });
  });

  const wrong: readonly (readonly [what: string, body: unknown, error: RegExp])[] = [
    ['a missing id and name', {}, /id must have/],
    ['an invalid id', { id: 'a/b' }, /id must have/],
    ['an id of 81 characters', { id: 'x'.repeat(81) }, /id must have/],
    ['a name that yields no id', { name: '店' }, /id must have/],
    ['a name of 121 characters', { id: 'x', name: 'x'.repeat(121) }, /name must have/],
    ['an invalid domain', { id: 'x', domains: ['exa mple'] }, /"exa mple" is not a valid domain/],
    [
      '101 domains',
      { id: 'x', domains: Array.from({ length: 101 }, (_, n) => `d${n}.example`) },
      /domains must have at most 100/,
    ],
    ['a property of 81 characters', { id: 'x', allowedEventProperties: ['x'.repeat(81)] }, /80 characters/],
    ['a token that does not fit in a header', { id: 'x', ingestToken: 'ä b' }, /ingestToken must have/],
    ['wrong types', { id: 1 }, /^id /],
    ['wrong types of domains', { id: 'x', domains: [1] }, /^domains/],
    ['wrong types of properties', { id: 'x', allowedEventProperties: 'plan' }, /^allowedEventProperties /],
  ];
  for (const [what, body, error] of wrong)
    it(`rejects a site with ${what}`, () => create(body).thenRefused(400, { error }));

  it('creates a site once, also for a repeated request', async () => {
    const id = await site();
    await create({ id: id.toUpperCase() }).thenRefused(400, { error: /already/ });
    const [key, suffix] = [{ 'idempotency-key': randomUUID() }, randomUUID()];
    const first = await create({ id: `k-${suffix}` }, key).thenAnswered(201);
    expect((await create({ id: `k-${suffix}` }, key).thenAnswered(201)).body).to.deep.equal(first.body);
    await create({ id: `l-${suffix}` }, key).thenRefused(422);
  });

  it('changes only the given fields', async () => {
    const id = await site({ allowedEventProperties: ['plan'], goals: ['Buy'], ingestToken: 'one' });
    const before = await listed(id);
    const { body } = await change(id, { name: 'Other' }).thenAnswered(200);
    expect(body.site).to.deep.equal({ ...before, name: 'Other', updatedAt: body.site.updatedAt });
    expect(body.site.updatedAt >= before.updatedAt).to.equal(true);
    expect((await change(id, { name: 'Other' }).thenAnswered(200)).body.site).to.deep.equal(body.site);
    await change(id, { domains: [] }).thenAnswered(200);
    expect(await listed(id)).to.deep.include({
      domains: [],
      allowedEventProperties: ['plan'],
      goals: ['Buy'],
      hasIngestToken: true,
    });
  });

  it('changes and clears the ingest token', async () => {
    const id = await site({ ingestToken: 'one' });
    const sent = async (token: string) => (await collect({ site: id }, { 'x-analytics-token': token })).accepted;
    expect([await sent('one'), await sent('two')]).to.deep.equal([true, false]);
    await change(id, { ingestToken: 'two' }).thenAnswered(200, {});
    expect([await sent('one'), await sent('two')]).to.deep.equal([false, true]);
    await change(id, { ingestToken: '' }).thenAnswered(200);
    expect(await sent('')).to.equal(true);
    expect(await listed(id)).to.include({ hasIngestToken: false });
  });

  it('answers 404 to changes and deletions of unknown sites', async () => {
    await change('nobody', { name: 'x' }).thenRefused(404);
    await change('no%2Fid', { name: 'x' }).thenRefused(404);
    await remove('nobody').thenRefused(404);
  });

  it('keeps the id of a site', async () => {
    const id = await site();
    await change(id, { id: 'other' }).thenRefused(400, { error: /id/ });
    await change(id, { id, name: 'Other' }).thenAnswered(200);
  });

  it('lists sites by name, with the privacy settings that apply', async () => {
    for (const name of ['zz-last', 'AA-first', 'mm-middle']) await site({ name });
    const body = await given('GET', '/api/sites', asAdmin());
    const names = body.sites.map(({ name }: { name: string }) => name);
    expect(names).to.deep.equal([...names].sort());
    expect(body.privacy).to.include({ honorDoNotTrack: true, filterBots: false, countries: false });
    expect(body.privacy).to.include({ retentionDays: 395, storeRaw: false, rawRetentionHours: 24 });
  });

  it('lists a site on another node, given its position', async () => {
    const id = `n-${randomUUID()}`;
    const { headers } = await create({ id }).thenAnswered(201);
    const position = { 'if-position': headers.get('position')! };
    const { body } = await ask(nodes.bases[1]!, 'GET', '/api/sites', asAdmin({ headers: position }));
    expect(body.sites.map((each: { id: string }) => each.id)).to.include(id);
  });

  describe('deleting a site', () => {
    it('removes it immediately and destroys the key of its data', async () => {
      const id = await site();
      await collect({ site: id, path: '/secret' });
      const [before] = await written(id);
      expect(before?.data.secret.hits).to.have.lengthOf(1);
      const { body } = await remove(id).thenAnswered(200);
      expect(body).to.include({ id, success: true }).and.have.property('rowsDeleted').that.is.a('number');
      const key = await nodes.observer.kernel.keys.read(`analytics.site-${before?.data.instance}`);
      expect(key).to.equal('destroyed');
      expect(await collect({ site: id })).to.deep.equal({ accepted: false, reason: 'unknown_site' });
      expect(await listed(id)).to.equal(undefined);
      await remove(id).thenRefused(404);
    });

    it('deletes its days from the log', async () => {
      const id = await site();
      await collect({ site: id, path: '/secret' });
      const [before] = await written(id);
      await remove(id).thenAnswered(200);
      const { log } = nodes.observer.kernel;
      await eventually(async () => (await log.read(before!.stream)) === 'deleted');
    });

    it('stops counting on another node soon after', async () => {
      const id = await site();
      await collect({ site: id }, {}, 1);
      await remove(id).thenAnswered(200);
      await eventually(async () => (await collect({ site: id }, {}, 1)).reason === 'unknown_site');
    });

    it('answers a repetition with the same key alike', async () => {
      const id = await site();
      const key = { 'idempotency-key': randomUUID() };
      const first = await remove(id, key).thenAnswered(200);
      expect((await remove(id, key).thenAnswered(200)).body).to.deep.equal(first.body);
    });

    it('lets its id be used for a new site with its own data', async () => {
      const id = await site({ ingestToken: 'sesame', name: 'Before' });
      await collect({ site: id, path: '/before' }, { 'x-analytics-token': 'sesame' });
      const [before] = await written(id);
      await remove(id).thenAnswered(200);
      await create({ id, domains: ['example.com'] }).thenAnswered(201);
      expect(await listed(id)).to.include({ name: id, hasIngestToken: false });
      expect(await collect({ site: id, path: '/after' })).to.deep.equal({ accepted: true });
      const after = (await written(id)).at(-1);
      expect(after?.data.instance).not.to.equal(before?.data.instance);
      expect(after?.data.secret.hits.map(({ path }) => path)).to.deep.equal(['/after']);
    });
  });
});

describe('without the admin token', function () {
  this.timeout(60_000);
  const nodes = useAnalytics();
  const { when } = nodes;

  for (const [method, path] of [
    ['GET', '/api/sites'],
    ['POST', '/api/sites'],
    ['PUT', '/api/sites/demo'],
    ['DELETE', '/api/sites/demo'],
    ['GET', '/api/collect-attempts?site=demo'],
    ['GET', '/api/auth/me'],
  ] as const) {
    it(`rejects ${method} ${path}`, async () => {
      for (const token of [undefined, 'an-admin-token-for-test', '']) {
        const { headers } = await when(method, path, { token }).thenRefused(401);
        expect(headers.get('www-authenticate')).to.match(/^Bearer/);
      }
    });
  }

  it("reports the caller's authentication at /api/auth/me", async () => {
    await when('GET', '/api/auth/me').thenAnswered(401, { authEnabled: true, authenticated: false });
    const user = { email: null, role: 'admin' };
    await when('GET', '/api/auth/me', asAdmin()).thenAnswered(200, {
      authEnabled: true,
      authenticated: true,
      user,
    });
  });

  it('serves health and configuration to everybody', async () => {
    const { body } = await when('GET', '/health').thenAnswered(200, { status: 'ok', service: 'analytics' });
    expect(body.timestamp).to.match(ISO);
    const config = await when('GET', '/config.json').thenAnswered(200, { mode: 'api' });
    expect(config.body.auth).to.include({ enabled: true });
  });

  it('serves a valid OpenAPI document', async () => {
    const { Validator } = await import('@seriousme/openapi-schema-validator');
    const { body } = await when('GET', '/openapi.json').thenAnswered(200, { openapi: '3.1.0' });
    const { valid, errors } = await new Validator().validate(structuredClone(body));
    expect(errors ?? []).to.deep.equal([]);
    expect(valid).to.equal(true);
    expect(Object.keys(body.paths)).to.include.members(['/api/collect', '/api/sites', '/api/sites/{id}']);
    expect(nodes.bases).to.have.lengthOf(1);
  });
});
