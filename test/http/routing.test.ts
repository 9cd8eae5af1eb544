/** Matching requests to routes, and the answers for unmatched and failing ones. */
import { expect } from 'chai';
import { problem } from '../../adapters/http/server/policy.js';
import type { RejectionKind } from '../../domain/shared/decider.js';
import { echo, serveToys, type Toys } from './toy-http-service.js';

describe('routing', () => {
  let toys: Toys;
  before(async () => {
    toys = await serveToys([
      echo({ method: 'GET', path: '/toys' }),
      echo({ method: 'GET', path: '/toys/:toyId/parts/:partId' }),
      echo({ method: 'POST', path: '/toys/:toyId' }),
      echo({ method: 'DELETE', path: '/toys/:toyId' }),
      echo({
        method: 'GET',
        path: '/hello',
        handle: () => ({
          status: 200,
          text: 'OK',
          headers: { 'Cache-Control': 'max-age=60' },
          position: 12n,
        }),
      }),
      echo({ method: 'POST', path: '/slow', handle: () => problem(429, 'Too fast', { retryAfterMs: 1500 }) }),
      echo({
        method: 'POST',
        path: '/limited',
        handle: () => ({
          rejected: 'toys/limit',
          kind: 'limit',
          detail: 'Too many toys',
          retryAfterMs: 59_001,
        }),
      }),
      echo({
        method: 'POST',
        path: '/refused/:kind',
        // The name suggests another kind, which must not matter.
        handle: ({ params }) => ({
          rejected: 'toys/idempotency-key-reused',
          kind: params.kind as RejectionKind,
        }),
      }),
      echo({
        method: 'POST',
        path: '/boom',
        handle: () => {
          throw new Error('table users_v3');
        },
      }),
    ]);
  });
  after(() => toys.close());

  it('matches paths exactly and case-sensitively', async () => {
    expect((await toys.ask('/toys')).status).to.equal(200);
    for (const path of ['/Toys', '/toys/', '/toys//', '/', '//toys', '/toys/1/parts']) {
      const { status, json } = await toys.ask(path);
      expect([path, status, json]).to.deep.equal([path, 404, { error: 'Not found' }]);
    }
  });

  it('decodes path parameters once', async () => {
    const { json } = await toys.ask('/toys/a%2Fb/parts/50%2525');
    expect(json.params).to.deep.equal({ toyId: 'a/b', partId: '50%25' });
  });

  it('answers 404 to invalid percent escapes', async () => {
    for (const path of ['/toys/%zz/parts/1', '/toys/%/parts/1', '/toys/%C3%28/parts/1']) {
      expect((await toys.ask(path)).status, path).to.equal(404);
    }
  });

  it('answers 405 with the allowed methods', async () => {
    const { status, headers, json } = await toys.ask('/toys/1', { method: 'PUT' });
    expect(status).to.equal(405);
    expect(headers.get('allow')?.split(', ')).to.have.members(['POST', 'DELETE', 'OPTIONS']);
    expect(json).to.deep.equal({ error: 'PUT is not allowed here' });
    expect((await toys.ask('/toys', { method: 'POST' })).headers.get('allow')).to.include('HEAD');
  });

  it('answers HEAD like GET without a body', async () => {
    const get = await toys.ask('/hello');
    const head = await toys.ask('/hello', { method: 'HEAD' });
    expect(head.status).to.equal(200);
    expect(head.text).to.equal('');
    for (const name of ['content-type', 'content-length', 'cache-control', 'position']) {
      expect(head.headers.get(name), name).to.equal(get.headers.get(name));
    }
    expect(get.text).to.equal('OK');
    expect(get.headers.get('position')).to.equal('12');
  });

  it('answers OPTIONS on any path with CORS headers', async () => {
    for (const path of ['/toys', '/no/such/path']) {
      const { status, headers, text } = await toys.ask(path, { method: 'OPTIONS' });
      expect(status).to.equal(204);
      expect(text).to.equal('');
      expect(headers.get('access-control-allow-origin')).to.equal('*');
      expect(headers.get('access-control-allow-methods')).to.equal('GET, POST');
    }
  });

  it('sends CORS and policy headers with errors too', async () => {
    for (const [path, status] of [
      ['/nowhere', 404],
      ['/boom', 500],
    ] as const) {
      const answer = await toys.post(path, {});
      expect(answer.status).to.equal(status);
      expect(answer.headers.get('access-control-allow-origin')).to.equal('*');
      expect(answer.headers.get('x-content-type-options')).to.equal('nosniff');
    }
  });

  it('adopts a valid request id, and generates one otherwise', async () => {
    const adopted = await toys.ask('/toys', { headers: { 'X-Request-Id': 'job-7.a:b_c' } });
    expect(adopted.headers.get('x-request-id')).to.equal('job-7.a:b_c');
    for (const wrong of ['a b', 'x'.repeat(129), '"quoted"']) {
      const generated = (await toys.ask('/toys', { headers: { 'X-Request-Id': wrong } })).headers.get('x-request-id');
      expect(generated).to.match(/^[0-9a-f-]{36}$/);
    }
  });

  it('rounds the seconds of Retry-After up', async () => {
    expect((await toys.post('/slow', {})).headers.get('retry-after')).to.equal('2');
    const limited = await toys.post('/limited', {});
    expect(limited.status).to.equal(429);
    expect(limited.json).to.deep.equal({ error: 'Too many toys' });
    expect(limited.headers.get('retry-after')).to.equal('60');
  });

  it('answers a rejection by its kind, not by its name', async () => {
    const expected: { readonly [kind in RejectionKind]: readonly [number, string] } = {
      invalid: [400, 'The request is invalid'],
      unauthenticated: [401, 'Unauthorized'],
      forbidden: [403, 'Forbidden'],
      'not-found': [404, 'Not found'],
      conflict: [409, 'Conflict'],
      gone: [410, 'Gone'],
      'too-large': [413, 'The request is too large'],
      'misused-key': [422, 'The Idempotency-Key was used before with another request'],
      limit: [429, 'Too many requests'],
      unavailable: [503, 'Temporarily unavailable, try again'],
    };
    for (const [kind, answer] of Object.entries(expected)) {
      const { status, json } = await toys.post(`/refused/${kind}`, {});
      expect([status, json.error], kind).to.deep.equal(answer);
    }
  });

  it('hides internal errors, and logs them once with the request id', async () => {
    const { status, text, headers } = await toys.post('/boom', {});
    expect([status, text]).to.deep.equal([500, '{"error":"Internal error"}']);
    const requestId = headers.get('x-request-id');
    const logged = toys.lines.filter(({ level, fields }) => level === 'error' && fields.requestId === requestId);
    expect(logged).to.have.length(1);
    expect(logged[0]?.fields.err).to.have.property('message', 'table users_v3');
  });

  it("logs the route's path, never the request's", async () => {
    await toys.ask('/toys/s3cret/parts/1?token=s3cret');
    expect(toys.lines.at(-1)?.fields).to.include({
      route: '/toys/:toyId/parts/:partId',
      method: 'GET',
      status: 200,
    });
    expect(JSON.stringify(toys.lines)).not.to.include('s3cret');
  });
});
