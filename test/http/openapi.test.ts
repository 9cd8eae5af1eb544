/** The OpenAPI document generated from routes, and the routes of the operations port. */
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import { operationsPolicy, operationsRoutes } from '../../adapters/http/operations.js';
import { recentErrorsRoute } from '../../adapters/http/recent-errors.js';
import { createRateLimit } from '../../adapters/http/server/client-network.js';
import { openapi, openapiRoute } from '../../adapters/http/server/openapi.js';
import type { Route } from '../../adapters/http/server/route.js';
import { createLogger } from '../../adapters/platform/observability/logger.js';
import { createMetrics } from '../../adapters/platform/observability/metrics.js';
import { createRecentErrors } from '../../adapters/platform/observability/recent-errors.js';
import { echo, serveToys, type Toys, toyPolicy } from './toy-http-service.js';

describe('OpenAPI document', () => {
  const policy = { ...toyPolicy, securitySchemes: { session: { type: 'http', scheme: 'bearer' } } };
  const routes: readonly Route[] = [
    echo({
      path: '/toys/:toyId/parts/:partId',
      security: 'session',
      admit: async () => ({}),
      body: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
      query: { type: 'object', required: ['q'], properties: { q: { type: 'string', description: 'Words' } } },
      answers: {
        201: { description: 'Made', schema: { type: 'object' } },
        404: { description: 'No such toy' },
      },
      quota: {
        perNetwork: createRateLimit(1, 1000),
        rejected: 'toys/too-many',
        description: 'Too many toys from this address',
      },
    }),
    echo({ path: '/toys/:toyId/parts/:partId', method: 'DELETE' }),
    echo({ path: '/log', body: 'bytes' }),
    echo({ path: '/health', method: 'GET', answers: { 200: { description: 'OK', type: 'text/plain' } } }),
  ];

  it('is valid OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(openapi(policy, routes)));
    expect(errors ?? []).to.deep.equal([]);
    expect(valid).to.equal(true);
  });

  it('describes every route with its parameters, body, answers and errors', () => {
    const document = JSON.parse(JSON.stringify(openapi(policy, routes)));
    for (const { path, method } of routes) {
      const pathItem = document.paths[path.replaceAll(/:(\w+)/g, '{$1}')];
      expect(pathItem, path).to.have.property(method.toLowerCase());
    }
    const post = document.paths['/toys/{toyId}/parts/{partId}'].post;
    expect(post.parameters.map(({ name }: { name: string }) => name)).to.include.members(['toyId', 'partId', 'q']);
    expect(post.requestBody.content['application/json'].schema.required).to.deep.equal(['name']);
    // A path parameter may name something unknown or be invalid.
    expect(document.paths['/toys/{toyId}/parts/{partId}'].delete.responses).to.have.property('404');
    expect(document.paths['/health'].get.responses).not.to.have.property('404');
    expect(Object.keys(post.responses)).to.have.members([
      '201',
      '400',
      '401',
      '404',
      '408',
      '413',
      '415',
      '422',
      '429',
      '500',
      '503',
    ]);
    expect(post.responses['429'].description).to.equal('Too many toys from this address');
    expect(post.responses['429'].headers).to.have.property('Retry-After');
    for (const [path, method] of [
      ['/log', 'post'],
      ['/health', 'get'],
    ] as const)
      expect(document.paths[path][method].responses).to.have.property('429');
    expect(post.security).to.deep.equal([{ session: [] }]);
    expect(document.paths['/health'].get.responses['200'].content).to.have.property('text/plain');
  });

  it('is served by its service, and describes its own route', async () => {
    const toys = await serveToys([...routes, openapiRoute(policy, routes)], policy);
    const { json } = await toys.ask('/openapi.json');
    await toys.close();
    expect(json.info).to.deep.equal({ title: 'Toys', version: '1.2.3' });
    expect(json.paths).to.have.property('/openapi.json');
  });
});

describe('operations port', () => {
  const policy = operationsPolicy('1.0.0');
  const projection = {
    name: 'toys.shelf',
    version: 2,
    collection: 'toys_shelf_v2',
    position: 9_007_199_254_740_993n,
    lag: 7n,
    owner: 'node-1',
    status: 'live' as const,
  };
  let ok = true;
  let local: Toys;
  let behindProxy: Toys;
  before(async () => {
    const status = {
      ready: async () => ({ ok, checks: [{ name: 'log', ok }] }),
      projections: async () => [projection],
    };
    const metrics = createMetrics();
    const recentErrors = createRecentErrors();
    createLogger({ level: 'info', format: 'json', to: { write() {} }, recentErrors }).warn({}, 'a store is slow');
    const access = { host: '127.0.0.1', token: 'operations-token-1' };
    const routes = operationsRoutes(policy, status, metrics, access, [recentErrorsRoute(recentErrors)]);
    local = await serveToys(routes, policy);
    behindProxy = await serveToys(routes, policy, { clientAddress: () => '203.0.113.1' });
    metrics.answered({ service: 'toys', method: 'GET', route: '/toys', status: 200, ms: 3 });
    metrics.countAppended(() => {})('toys.shelf-1', 1n, 4);
    metrics.conflicted('toys.shelf-1');
    metrics.relay('toys').connected(3);
    const sockets = metrics.sockets('toys');
    for (const change of [1, 1, -1]) sockets.open(change);
    sockets.slowed(1);
    metrics.reacted('toys.mail');
    metrics.cache({ name: 'toys', limitBytes: 100, bytes: () => 7 });
  });
  after(async () => {
    await local.close();
    await behindProxy.close();
  });

  it('reports liveness and readiness', async () => {
    expect((await local.ask('/health/live')).json.ok).to.equal(true);
    expect((await local.ask('/health/ready')).json).to.deep.equal({
      ok: true,
      checks: [{ name: 'log', ok: true }],
    });
    ok = false;
    const { status, json, headers } = await local.ask('/health/ready');
    ok = true;
    expect(status).to.equal(503);
    expect(Number(headers.get('retry-after'))).to.be.at.least(1);
    expect(json).to.deep.equal({ error: 'Not ready', ok: false, checks: [{ name: 'log', ok: false }] });
  });

  it('exposes metrics in Prometheus format', async () => {
    const { text, headers } = await local.ask('/metrics');
    expect(headers.get('content-type')).to.match(/^text\/plain; version=/);
    for (const line of [
      'annals_http_requests_total{service="toys",method="GET",route="/toys",status="200"} 1',
      'annals_events_appended_total{service="toys"} 4',
      'annals_append_conflicts_total{service="toys"} 1',
      'annals_relay_connections{service="toys"} 3',
      'annals_sockets{service="toys"} 1',
      'annals_sockets_slowed{service="toys"} 1',
      'annals_reactions_total{reaction="toys.mail",outcome="done"} 1',
      'annals_cache_bytes{cache="toys"} 7',
      'annals_cache_limit_bytes{cache="toys"} 100',
      'annals_projection_lag{projection="toys.shelf"} 7',
    ]) {
      expect(text).to.include(`${line}\n`);
    }
    expect(text).to.match(/^process_cpu_seconds_total /m);
  });

  it('lists projections with positions of full precision', async () => {
    const { json } = await local.ask('/projections');
    expect(json.projections).to.deep.equal([{ ...projection, position: '9007199254740993', lag: '7' }]);
  });

  it('lists the last warnings and errors of the process', async () => {
    const { json } = await local.ask('/errors');
    expect(json.errors).to.containSubset([{ level: 'warn', message: 'a store is slow' }]);
  });

  it('requires the token from other machines', async () => {
    for (const path of ['/health/live', '/health/ready', '/metrics', '/projections', '/errors', '/openapi.json']) {
      expect((await behindProxy.ask(path)).status, path).to.equal(401);
      const wrong = await behindProxy.ask(path, { headers: { Authorization: 'Bearer operations-token-2' } });
      expect(wrong.status, path).to.equal(401);
      expect(wrong.headers.get('www-authenticate')).to.equal('Bearer');
      const right = await behindProxy.ask(path, { headers: { Authorization: 'Bearer operations-token-1' } });
      expect(right.status, path).to.equal(200);
    }
  });

  it('requires the token from a proxy on this machine', async () => {
    expect((await local.ask('/metrics', { headers: { 'X-Forwarded-For': '127.0.0.1' } })).status).to.equal(401);
  });

  it('has its own valid OpenAPI document', async () => {
    const { valid } = await new Validator().validate((await local.ask('/openapi.json')).json);
    expect(valid).to.equal(true);
  });
});
