/** Which route a request comes to, and what is answered where there is none. */
import { expect } from 'chai';
import { problem } from '../../adapters/http/server/problem.js';
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
        // A name that speaks of another kind: nobody may go by it.
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

  it('knows a path exactly and with its case', async () => {
    expect((await toys.ask('/toys')).status).to.equal(200);
    for (const path of ['/Toys', '/toys/', '/toys//', '/', '//toys', '/toys/1/parts']) {
      const { status, json } = await toys.ask(path);
      expect([path, status, json]).to.deep.equal([path, 404, { error: 'Not found' }]);
    }
  });

  it('decodes parameters once', async () => {
    const { json } = await toys.ask('/toys/a%2Fb/parts/50%2525');
    expect(json.params).to.deep.equal({ toyId: 'a/b', partId: '50%25' });
  });

  it('takes a broken percent escape for an unknown path', async () => {
    for (const path of ['/toys/%zz/parts/1', '/toys/%/parts/1', '/toys/%C3%28/parts/1']) {
      expect((await toys.ask(path)).status, path).to.equal(404);
    }
  });

  it('says which methods a path knows', async () => {
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

  it('answers OPTIONS on any path with the CORS headers', async () => {
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
      const told = await toys.post(path, {});
      expect(told.status).to.equal(status);
      expect(told.headers.get('access-control-allow-origin')).to.equal('*');
      expect(told.headers.get('x-content-type-options')).to.equal('nosniff');
    }
  });

  it('takes over a sane request id and makes one otherwise', async () => {
    const given = await toys.ask('/toys', { headers: { 'X-Request-Id': 'job-7.a:b_c' } });
    expect(given.headers.get('x-request-id')).to.equal('job-7.a:b_c');
    for (const wrong of ['a b', 'x'.repeat(129), '"quoted"']) {
      const made = (await toys.ask('/toys', { headers: { 'X-Request-Id': wrong } })).headers.get('x-request-id');
      expect(made).to.match(/^[0-9a-f-]{36}$/);
    }
  });

  it('says after how many seconds a retry can succeed, rounded up', async () => {
    expect((await toys.post('/slow', {})).headers.get('retry-after')).to.equal('2');
    const limited = await toys.post('/limited', {});
    expect(limited.status).to.equal(429);
    expect(limited.json).to.deep.equal({ error: 'Too many toys' });
    expect(limited.headers.get('retry-after')).to.equal('60');
  });

  it('answers a rejection by its kind, whatever it is called', async () => {
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

  it('says nothing internal when something breaks, and logs it once under the request id', async () => {
    const { status, text, headers } = await toys.post('/boom', {});
    expect([status, text]).to.deep.equal([500, '{"error":"Internal error"}']);
    const requestId = headers.get('x-request-id');
    const logged = toys.lines.filter(({ level, fields }) => level === 'error' && fields.requestId === requestId);
    expect(logged).to.have.length(1);
    expect(logged[0]?.fields.err).to.have.property('message', 'table users_v3');
  });

  it('logs the path of the route, never that of the request', async () => {
    await toys.ask('/toys/s3cret/parts/1?token=s3cret');
    expect(toys.lines.at(-1)?.fields).to.include({
      route: '/toys/:toyId/parts/:partId',
      method: 'GET',
      status: 200,
    });
    expect(JSON.stringify(toys.lines)).not.to.include('s3cret');
  });
});
