/** Sites over HTTP, by the contract: made, changed, listed and deleted by whoever has the admin token. */
import { randomUUID } from 'node:crypto';
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { asAdmin, useAnalytics } from '../../support/analytics-node.js';
import { ask } from '../../support/chat-client.js';

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('sites', function () {
  this.timeout(60_000);
  const nodes = useAnalytics({ '--analytics-app-url': 'https://stats.example/below' }, 2);
  const { site, collect, written, when, given } = nodes;
  const make = (body: unknown, headers = {}) => when('POST', '/api/sites', asAdmin({ body, headers }));
  const change = (id: string, body: unknown) => when('PUT', `/api/sites/${id}`, asAdmin({ body }));
  const remove = (id: string, headers = {}) => when('DELETE', `/api/sites/${id}`, asAdmin({ headers }));
  const listed = async (id: string, at = 0) => {
    const { body } = await ask(nodes.bases[at]!, 'GET', '/api/sites', asAdmin());
    return body.sites.find((each: { id: string }) => each.id === id);
  };

  it('are made, and told without their token', async () => {
    const id = `shop-${randomUUID()}`;
    const domains = ['https://Shop.example/x', 'example.com:80'];
    const wishes = {
      id: ` ${id.toUpperCase()} `,
      name: ' My shop ',
      domains,
      allowedEventProperties: ['plan'],
      ingestToken: 'sesame',
    };
    const { body, headers } = await make(wishes).thenAnswered(201);
    expect(headers.get('position')).to.match(/^\d+$/);
    const { createdAt, updatedAt, ...told } = body.site;
    expect(told).to.deep.equal({
      id,
      name: 'My shop',
      domains: ['shop.example', 'example.com'],
      allowedEventProperties: ['plan'],
      hasIngestToken: true,
      snippet: `<script defer src="https://stats.example/below/m.js" data-site="${id}"></script>`,
    });
    expect(createdAt).to.match(ISO).and.equal(updatedAt);
    expect(await listed(id)).to.deep.equal(body.site);
  });

  it('are made of a name alone, or of an id alone', async () => {
    const word = randomUUID();
    const { body } = await make({ name: `Ada's ${word}!` }).thenAnswered(201);
    expect(body.site).to.include({ id: `adas_${word}`, name: `Ada's ${word}!`, hasIngestToken: false });
    const other = await make({ id: `only-${word}`, domains: 'a.example, b.example\nc.example' }).thenAnswered(201);
    expect(other.body.site).to.deep.include({
      name: `only-${word}`,
      domains: ['a.example', 'b.example', 'c.example'],
    });
  });

  const wrong: readonly (readonly [what: string, body: unknown, error: RegExp])[] = [
    ['no id and no name', {}, /id must have/],
    ['an id that is none', { id: 'a/b' }, /id must have/],
    ['an id of 81 characters', { id: 'x'.repeat(81) }, /id must have/],
    ['a name no id can be made of', { name: '店' }, /id must have/],
    ['a name of 121 characters', { id: 'x', name: 'x'.repeat(121) }, /name must have/],
    ['a domain that is none', { id: 'x', domains: ['exa mple'] }, /"exa mple" is not a valid domain/],
    [
      '101 domains',
      { id: 'x', domains: Array.from({ length: 101 }, (_, n) => `d${n}.example`) },
      /domains must have at most 100/,
    ],
    ['a property of 81 characters', { id: 'x', allowedEventProperties: ['x'.repeat(81)] }, /80 characters/],
    ['a token that no header carries', { id: 'x', ingestToken: 'ä b' }, /ingestToken must have/],
    ['wrong types', { id: 1 }, /^id /],
    ['wrong types of domains', { id: 'x', domains: [1] }, /^domains/],
    ['wrong types of properties', { id: 'x', allowedEventProperties: 'plan' }, /^allowedEventProperties /],
  ];
  for (const [what, body, error] of wrong) it(`are refused for ${what}`, () => make(body).thenRefused(400, { error }));

  it('are made once', async () => {
    const id = await site();
    await make({ id: id.toUpperCase() }).thenRefused(400, { error: /already/ });
    const [key, word] = [{ 'idempotency-key': randomUUID() }, randomUUID()];
    const first = await make({ id: `k-${word}` }, key).thenAnswered(201);
    expect((await make({ id: `k-${word}` }, key).thenAnswered(201)).body).to.deep.equal(first.body);
    await make({ id: `l-${word}` }, key).thenRefused(422);
  });

  it('keep what is not said of them when they are changed', async () => {
    const id = await site({ allowedEventProperties: ['plan'], ingestToken: 'one' });
    const before = await listed(id);
    const { body } = await change(id, { name: 'Other' }).thenAnswered(200);
    expect(body.site).to.deep.equal({ ...before, name: 'Other', updatedAt: body.site.updatedAt });
    expect(body.site.updatedAt >= before.updatedAt).to.equal(true);
    expect((await change(id, { name: 'Other' }).thenAnswered(200)).body.site).to.deep.equal(body.site);
    await change(id, { domains: [] }).thenAnswered(200);
    expect(await listed(id)).to.deep.include({
      domains: [],
      allowedEventProperties: ['plan'],
      hasIngestToken: true,
    });
  });

  it('change and clear their token', async () => {
    const id = await site({ ingestToken: 'one' });
    const sent = async (token: string) => (await collect({ site: id }, { 'x-analytics-token': token })).accepted;
    expect([await sent('one'), await sent('two')]).to.deep.equal([true, false]);
    await change(id, { ingestToken: 'two' }).thenAnswered(200, {});
    expect([await sent('one'), await sent('two')]).to.deep.equal([false, true]);
    await change(id, { ingestToken: '' }).thenAnswered(200);
    expect(await sent('')).to.equal(true);
    expect(await listed(id)).to.include({ hasIngestToken: false });
  });

  it('that are not there are neither changed nor deleted', async () => {
    await change('nobody', { name: 'x' }).thenRefused(404);
    await change('no%2Fid', { name: 'x' }).thenRefused(404);
    await remove('nobody').thenRefused(404);
  });

  it('keep their id', async () => {
    const id = await site();
    await change(id, { id: 'other' }).thenRefused(400, { error: /id/ });
    await change(id, { id, name: 'Other' }).thenAnswered(200);
  });

  it('are listed by name, with the privacy settings that apply', async () => {
    for (const name of ['zz-last', 'AA-first', 'mm-middle']) await site({ name });
    const body = await given('GET', '/api/sites', asAdmin());
    const names = body.sites.map(({ name }: { name: string }) => name);
    expect(names).to.deep.equal([...names].sort());
    expect(body.privacy).to.include({ honorDoNotTrack: true, filterBots: false, countries: false });
    expect(body.privacy).to.include({ retentionDays: 395, storeRaw: false, rawRetentionHours: 24 });
  });

  it('are known on another node to who has seen them', async () => {
    const id = `n-${randomUUID()}`;
    const { headers } = await make({ id }).thenAnswered(201);
    const seen = { 'if-position': headers.get('position')! };
    const { body } = await ask(nodes.bases[1]!, 'GET', '/api/sites', asAdmin({ headers: seen }));
    expect(body.sites.map((each: { id: string }) => each.id)).to.include(id);
  });

  describe('that are deleted', () => {
    it('are gone at once, and what was counted can be read by nobody any more', async () => {
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

    it('have their days ended in the log', async () => {
      const id = await site();
      await collect({ site: id, path: '/secret' });
      const [before] = await written(id);
      await remove(id).thenAnswered(200);
      const { log } = nodes.observer.kernel;
      await eventually(async () => (await log.read(before!.stream)) === 'deleted');
    });

    it('count nothing on another node that did not hear of it yet, once it has', async () => {
      const id = await site();
      await collect({ site: id }, {}, 1);
      await remove(id).thenAnswered(200);
      await eventually(async () => (await collect({ site: id }, {}, 1)).reason === 'unknown_site');
    });

    it('are told so again with the same key', async () => {
      const id = await site();
      const key = { 'idempotency-key': randomUUID() };
      const first = await remove(id, key).thenAnswered(200);
      expect((await remove(id, key).thenAnswered(200)).body).to.deep.equal(first.body);
    });

    it('are others when they are made again under their id', async () => {
      const id = await site({ ingestToken: 'sesame', name: 'Before' });
      await collect({ site: id, path: '/before' }, { 'x-analytics-token': 'sesame' });
      const [before] = await written(id);
      await remove(id).thenAnswered(200);
      await make({ id, domains: ['example.com'] }).thenAnswered(201);
      expect(await listed(id)).to.include({ name: id, hasIngestToken: false });
      expect(await collect({ site: id, path: '/after' })).to.deep.equal({ accepted: true });
      const after = (await written(id)).at(-1);
      expect(after?.data.instance).not.to.equal(before?.data.instance);
      expect(after?.data.secret.hits.map(({ path }) => path)).to.deep.equal(['/after']);
    });
  });
});

describe('who has no admin token', function () {
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
    it(`may not ${method} ${path}`, async () => {
      for (const token of [undefined, 'an-admin-token-for-test', '']) {
        const { headers } = await when(method, path, { token }).thenRefused(401);
        expect(headers.get('www-authenticate')).to.match(/^Bearer/);
      }
    });
  }

  it('is told so by /api/auth/me, and who has one that they are the admin', async () => {
    await when('GET', '/api/auth/me').thenAnswered(401, { authEnabled: true, authenticated: false });
    const user = { email: null, role: 'admin' };
    await when('GET', '/api/auth/me', asAdmin()).thenAnswered(200, {
      authEnabled: true,
      authenticated: true,
      user,
    });
  });

  it('is told that the service is up, and how it is configured', async () => {
    const { body } = await when('GET', '/health').thenAnswered(200, { status: 'ok', service: 'analytics' });
    expect(body.timestamp).to.match(ISO);
    const config = await when('GET', '/config.json').thenAnswered(200, { mode: 'api' });
    expect(config.body.auth).to.include({ enabled: true });
  });

  it('reads the document, which is valid', async () => {
    const { Validator } = await import('@seriousme/openapi-schema-validator');
    const { body } = await when('GET', '/openapi.json').thenAnswered(200, { openapi: '3.1.0' });
    const { valid, errors } = await new Validator().validate(structuredClone(body));
    expect(errors ?? []).to.deep.equal([]);
    expect(valid).to.equal(true);
    expect(Object.keys(body.paths)).to.include.members(['/api/collect', '/api/sites', '/api/sites/{id}']);
    expect(nodes.bases).to.have.lengthOf(1);
  });
});
