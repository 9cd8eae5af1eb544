/** Bearer tokens must match completely, and are checked before anything else in a request. */
import { expect } from 'chai';
import { createLogAdmission } from '../../adapters/http/logs/admission.js';
import { operationsPolicy, operationsRoutes } from '../../adapters/http/operations.js';
import type { Route } from '../../adapters/http/server/route.js';
import { createMetrics } from '../../adapters/platform/observability/metrics.js';
import { send } from '../support/http-spec.js';
import { echo, serveToys, statusWith, type Toys } from './toy-http-service.js';

describe('access to the operations port', () => {
  const policy = operationsPolicy('1.0.0');
  const status = { ready: async () => ({ ok: true, checks: [] }), projections: async () => [] };
  const serve = (token?: string, options = {}) =>
    serveToys(operationsRoutes(policy, status, createMetrics(), { host: 'ops.lan', token }), policy, options);
  const ask = (toys: Toys, headers: { [name: string]: string }, path = '/metrics') =>
    send(toys.url, { method: 'GET', path, headers }).then((answer) => answer.status);

  it('without a token, answers this machine under its own host names only', async () => {
    const toys = await serve();
    for (const host of ['localhost:3009', '127.0.0.1', '[::1]:3009', 'ops.lan'])
      expect(await ask(toys, { host }), host).to.equal(200);
    for (const host of ['evil.example', 'evil.example:3009', '127.0.0.1.nip.io'])
      expect(await ask(toys, { host }), host).to.equal(403);
    expect(await ask(toys, { host: 'localhost' }, 'http://evil.example/metrics')).to.equal(403);
    expect(await ask(toys, { host: 'evil.example' }, 'http://ops.lan/metrics')).to.equal(200);
    await toys.close();
  });

  it('with a token, requires exactly that token under any host name', async () => {
    const token = 'operations-token-1';
    const toys = await serve(token, { clientAddress: () => '203.0.113.1' });
    const bearing = (bearer: string) => ask(toys, { host: 'ops.example', authorization: `Bearer ${bearer}` });
    expect(await bearing(token)).to.equal(200);
    for (const invalid of [token.slice(0, -1), `${token}x`, token.slice(1), token.toUpperCase(), token[0]!])
      expect(await bearing(invalid), invalid).to.equal(401);
    await toys.close();
  });
});

describe('tokens of the log service', () => {
  const apiToken = 'api-token-12345';
  const producer = 'producer-token-1';
  const admission = createLogAdmission({
    apiToken,
    username: 'ann',
    password: 'pass-word',
    producers: [{ id: 'web', token: producer }],
  });
  const serve = (admit: Route['admit']) => serveToys([echo({ method: 'GET', path: '/toys', ...(admit && { admit }) })]);
  const basic = (name: string, password: string) => `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;

  it('must match completely: no prefix, no suffix, no other case', async () => {
    const ingest = await serve(admission.ingest);
    const query = await serve(admission.query);
    for (const valid of [`Bearer ${apiToken}`, basic('ann', 'pass-word')]) {
      expect(await statusWith(ingest)({ authorization: valid }), valid).to.equal(200);
      expect(await statusWith(query)({ authorization: valid }), valid).to.equal(200);
    }
    expect(await statusWith(ingest)({ authorization: `Bearer ${producer}` })).to.equal(200);
    expect(await statusWith(query)({ authorization: `Bearer ${producer}` })).to.equal(403);
    for (const token of [apiToken, producer])
      for (const invalid of [token.slice(0, -1), `${token}x`, token.slice(1), token.toUpperCase(), token[0]!])
        for (const toys of [ingest, query])
          expect(await statusWith(toys)({ authorization: `Bearer ${invalid}` }), invalid).to.equal(401);
    for (const invalid of [
      basic('ann', 'pass-wor'),
      basic('ann', 'pass-word1'),
      basic('an', 'pass-word'),
      basic('', ''),
    ])
      for (const toys of [ingest, query]) expect(await statusWith(toys)({ authorization: invalid })).to.equal(401);
    await Promise.all([ingest.close(), query.close()]);
  });

  it('are rejected when wrong, also where only producers have tokens and reading is open', async () => {
    const { ingest, query, signIn } = createLogAdmission({ producers: [{ id: 'web', token: producer }] });
    for (const admit of [ingest, query]) {
      const toys = await serve(admit);
      for (const valid of [undefined, `Bearer ${producer}`, basic('ann', 'any')])
        expect(await statusWith(toys)(valid === undefined ? {} : { authorization: valid }), valid).to.equal(200);
      for (const invalid of [`Bearer ${producer}x`, `bearer ${apiToken}`, 'Bearer', 'Bearer two words'])
        expect(await statusWith(toys)({ authorization: invalid }), invalid).to.equal(401);
      await toys.close();
    }
    expect(signIn).to.match(/can read records; set logs\.apiToken/);
  });
});

describe('order of request checks', () => {
  it('authenticates the caller before validating the query or the body', async () => {
    const toys = await serveToys([
      echo({
        path: '/toys',
        admit: ({ bearer }) => (bearer === 'yes' ? undefined : { problem: 401, error: 'Unauthorized' }),
        query: { type: 'object', properties: { limit: { type: 'integer' } } },
        body: { type: 'object', required: ['name'] },
      }),
    ]);
    const ask = (path: string, body: string, bearer = 'no') =>
      toys.post(path, body, { authorization: `Bearer ${bearer}` }).then(({ status }) => status);
    expect(await ask('/toys?limit=x', '{}')).to.equal(401);
    expect(await ask('/toys', '{')).to.equal(401);
    expect(await ask('/toys?limit=x', '{"name":1}', 'yes')).to.equal(400);
    expect(await ask('/toys', '{', 'yes')).to.equal(400);
    expect(await ask('/toys?limit=1', '{"name":1}', 'yes')).to.equal(200);
    await toys.close();
  });
});
