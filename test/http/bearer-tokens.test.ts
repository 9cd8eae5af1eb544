/** Tokens count whole, and are asked for before anything else is looked at. */
import { expect } from 'chai';
import { createLogAdmission } from '../../adapters/http/logs/admission.js';
import { operationsPolicy, operationsRoutes } from '../../adapters/http/operations.js';
import type { Route } from '../../adapters/http/server/route.js';
import { createMetrics } from '../../adapters/platform/observability/metrics.js';
import { send } from '../support/raw-http.js';
import { asking, echo, serveToys, type Toys } from './toy-http-service.js';

describe('the operations port', () => {
  const policy = operationsPolicy('1.0.0');
  const status = { ready: async () => ({ ok: true, checks: [] }), projections: async () => [] };
  const served = (token?: string, options = {}) =>
    serveToys(operationsRoutes(policy, status, createMetrics(), { host: 'ops.lan', token }), policy, options);
  const ask = (toys: Toys, headers: { [name: string]: string }, path = '/metrics') =>
    send(toys.url, { method: 'GET', path, headers }).then((answer) => answer.status);

  it('answers this machine under its own names only', async () => {
    const toys = await served();
    for (const host of ['localhost:3009', '127.0.0.1', '[::1]:3009', 'ops.lan'])
      expect(await ask(toys, { host }), host).to.equal(200);
    for (const host of ['evil.example', 'evil.example:3009', '127.0.0.1.nip.io'])
      expect(await ask(toys, { host }), host).to.equal(403);
    expect(await ask(toys, { host: 'localhost' }, 'http://evil.example/metrics')).to.equal(403);
    expect(await ask(toys, { host: 'evil.example' }, 'http://ops.lan/metrics')).to.equal(200);
    await toys.close();
  });

  it('takes its token whole, under any name', async () => {
    const token = 'operations-token-1';
    const toys = await served(token, { clientAddress: () => '203.0.113.1' });
    const bearing = (given: string) => ask(toys, { host: 'ops.example', authorization: `Bearer ${given}` });
    expect(await bearing(token)).to.equal(200);
    for (const wrong of [token.slice(0, -1), `${token}x`, token.slice(1), token.toUpperCase(), token[0]!])
      expect(await bearing(wrong), wrong).to.equal(401);
    await toys.close();
  });
});

describe('the tokens of the log service', () => {
  const apiToken = 'api-token-12345';
  const producer = 'producer-token-1';
  const admission = createLogAdmission({
    apiToken,
    username: 'ann',
    password: 'pass-word',
    producers: [{ id: 'web', token: producer }],
  });
  const served = (admit: Route['admit']) =>
    serveToys([echo({ method: 'GET', path: '/toys', ...(admit && { admit }) })]);
  const basic = (name: string, word: string) => `Basic ${Buffer.from(`${name}:${word}`).toString('base64')}`;

  it('count whole: no part, no more, no other case', async () => {
    const sending = await served(admission.ingest);
    const reading = await served(admission.query);
    for (const right of [`Bearer ${apiToken}`, basic('ann', 'pass-word')]) {
      expect(await asking(sending)({ authorization: right }), right).to.equal(200);
      expect(await asking(reading)({ authorization: right }), right).to.equal(200);
    }
    expect(await asking(sending)({ authorization: `Bearer ${producer}` })).to.equal(200);
    expect(await asking(reading)({ authorization: `Bearer ${producer}` })).to.equal(403);
    for (const token of [apiToken, producer])
      for (const wrong of [token.slice(0, -1), `${token}x`, token.slice(1), token.toUpperCase(), token[0]!])
        for (const toys of [sending, reading])
          expect(await asking(toys)({ authorization: `Bearer ${wrong}` }), wrong).to.equal(401);
    for (const wrong of [basic('ann', 'pass-wor'), basic('ann', 'pass-word1'), basic('an', 'pass-word'), basic('', '')])
      for (const toys of [sending, reading]) expect(await asking(toys)({ authorization: wrong })).to.equal(401);
    await Promise.all([sending.close(), reading.close()]);
  });

  it('are refused when they are wrong also where only producers have one, and reading is open', async () => {
    const { ingest, query, signIn } = createLogAdmission({ producers: [{ id: 'web', token: producer }] });
    for (const admit of [ingest, query]) {
      const toys = await served(admit);
      for (const right of [undefined, `Bearer ${producer}`, basic('ann', 'any')])
        expect(await asking(toys)(right === undefined ? {} : { authorization: right }), right).to.equal(200);
      for (const wrong of [`Bearer ${producer}x`, `bearer ${apiToken}`, 'Bearer', 'Bearer two words'])
        expect(await asking(toys)({ authorization: wrong }), wrong).to.equal(401);
      await toys.close();
    }
    expect(signIn).to.match(/can read records; set logs\.apiToken/);
  });
});

describe('the order of a request', () => {
  it('asks who is calling before it looks at the query or the body', async () => {
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
