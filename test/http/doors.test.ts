/** Who is let in at all: what a web page, a guessed token or one request too many must not get through. */
import { expect } from 'chai';
import { createLimit } from '../../adapters/http/kernel/limit.js';
import type { Route } from '../../adapters/http/kernel/route.js';
import { createLogAdmission } from '../../adapters/http/logs/admission.js';
import { type LogsAccess, logsPolicy } from '../../adapters/http/logs/policy.js';
import { operationsPolicy, operationsRoutes } from '../../adapters/http/operations.js';
import { createMetrics } from '../../adapters/system/metrics.js';
import { eventually } from '../support/condition.js';
import { send } from '../support/raw.js';
import { echo, serveToys, type Toys } from './toy.js';

const asking =
  (toys: Toys) =>
  (headers: { [name: string]: string }, method = 'GET') =>
    send(toys.url, { method, path: '/toys', headers }).then(({ status }) => status);

describe('an open log service', () => {
  async function opened(access: Partial<LogsAccess>, work: (toys: Toys) => Promise<void>) {
    const policy = logsPolicy('1.0.0', { open: true, password: false, host: '127.0.0.1', ...access });
    const toys = await serveToys([echo({ method: 'GET', path: '/toys' })], policy);
    await work(toys).finally(toys.close);
  }

  it('answers this machine, whatever it calls itself', () =>
    opened({}, async (toys) => {
      for (const host of [
        'localhost',
        'LOCALHOST:80',
        '127.0.0.1:3003',
        '127.8.8.8',
        '[::1]:3003',
        '[::1]',
      ]) {
        expect(await asking(toys)({ host }), host).to.equal(200);
      }
      for (const origin of ['http://localhost:5173', 'https://127.0.0.1', 'http://[::1]:8080']) {
        expect(await asking(toys)({ host: 'localhost', origin }), origin).to.equal(200);
      }
    }));

  it('refuses a page of another site, also its preflight, whatever path it asks for', () =>
    opened({}, async (toys) => {
      for (const origin of [
        'https://evil.example',
        'null',
        '',
        'http://localhost.evil.example',
        'http://127.0.0.1.evil.example',
        'http://evil.example:80@localhost',
        'chrome-extension://localhost',
        'file://',
      ]) {
        for (const method of ['GET', 'OPTIONS', 'PUT']) {
          expect(await asking(toys)({ host: 'localhost', origin }, method), `${method} ${origin}`).to.equal(
            403,
          );
        }
      }
      const headers = { host: 'localhost', origin: 'https://evil.example' };
      const refused = await send(toys.url, { method: 'GET', path: '/no/such/path', headers });
      expect([refused.status, typeof JSON.parse(refused.text).error]).to.deep.equal([403, 'string']);
      expect(refused.headers).not.to.have.property('access-control-allow-origin');
    }));

  it('refuses a name that was made to point here', () =>
    opened({}, async (toys) => {
      for (const host of [
        'evil.example',
        'evil.example:3003',
        'localhost.evil.example',
        '127.0.0.1.nip.io',
      ]) {
        expect(await asking(toys)({ host }), host).to.equal(403);
      }
    }));

  it('refuses what a page of another site embeds, and answers who follows a link', () =>
    opened({}, async (toys) => {
      const embedded = (mode: string, destination: string, site = 'cross-site') =>
        asking(toys)({
          host: 'localhost',
          'sec-fetch-site': site,
          'sec-fetch-mode': mode,
          'sec-fetch-dest': destination,
        });
      for (const destination of ['image', 'script', 'empty', 'style'])
        expect(await embedded('no-cors', destination), destination).to.equal(403);
      expect(await embedded('navigate', 'iframe')).to.equal(403);
      expect(await embedded('navigate', 'document')).to.equal(200);
      for (const site of ['same-origin', 'same-site', 'none'])
        expect(await embedded('no-cors', 'image', site), site).to.equal(200);
    }));

  it('goes by the host of an absolute target, whatever the Host header says', () =>
    opened({}, async (toys) => {
      const status = async (path: string, host: string) =>
        (await send(toys.url, { method: 'GET', path, headers: { host } })).status;
      for (const target of [
        'http://evil.example/toys',
        'HTTP://evil.example:80/toys?a=http://localhost/',
        'https://127.0.0.1.evil.example/toys',
        'http://localhost@evil.example/toys',
        'http:///toys',
        'http://evil.example?/toys',
      ])
        expect(await status(target, 'localhost'), target).to.be.oneOf([400, 403]);
      expect(await status('http://evil.example/toys', 'localhost')).to.equal(403);
      expect(await status('http://localhost:3003/toys', 'evil.example')).to.equal(200);
      expect(await status('/toys?to=http://evil.example/', 'localhost')).to.equal(200);
    }));

  it('answers under the address listened on and that of its appUrl', () =>
    opened({ host: 'logs.lan', appUrl: 'https://logs.example.com/here' }, async (toys) => {
      for (const host of ['logs.lan:3003', 'logs.example.com', 'Logs.Example.com:8443']) {
        expect(await asking(toys)({ host }), host).to.equal(200);
      }
      expect(await asking(toys)({ host: 'example.com' })).to.equal(403);
    }));

  it('lets the pages of listed origins in, and of all where the list says so', async () => {
    await opened({ origins: ['https://a.example'] }, async (toys) => {
      const from = (origin: string) => asking(toys)({ host: 'localhost', origin });
      expect(await from('https://a.example')).to.equal(200);
      expect(await from('https://b.example')).to.equal(403);
    });
    await opened({ origins: ['*'] }, async (toys) => {
      expect(await asking(toys)({ host: 'localhost', origin: 'https://b.example' })).to.equal(200);
      expect(await asking(toys)({ host: 'b.example', origin: 'https://b.example' })).to.equal(403);
    });
  });

  it('answers everybody who has credentials, where it asks for them', () =>
    opened({ open: false }, async (toys) => {
      expect(await asking(toys)({ host: 'logs.example', origin: 'https://a.example' })).to.equal(200);
    }));
});

describe('a log service that takes a password', () => {
  const headers = { host: 'logs.example', authorization: 'Basic YW5uOnBhc3Mtd29yZA==' };
  const foreign = { ...headers, origin: 'https://evil.example' };
  let toys: Toys;
  before(async () => {
    const origins = ['*', 'https://a.example'];
    const policy = logsPolicy('1.0.0', {
      open: false,
      password: true,
      host: 'x',
      appUrl: 'https://app.example/logs',
      origins,
    });
    const routes = [
      echo({ path: '/toys', anyContentType: true, body: {} }),
      echo({ method: 'GET', path: '/toys' }),
    ];
    toys = await serveToys(routes, policy);
  });
  after(() => toys.close());
  const posting = (given: { [name: string]: string }) => asking(toys)(given, 'POST');

  it('does nothing for a page of another origin whose browser adds it unasked', async () => {
    for (const type of ['text/plain;charset=UTF-8', 'multipart/form-data; boundary=a', 'TEXT/PLAIN'])
      expect(await posting({ ...foreign, 'content-type': type }), type).to.equal(403);
    expect(await posting(foreign)).to.equal(403);
    expect(await posting({ ...foreign, origin: 'null' })).to.equal(403);
    const embedded = {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'no-cors',
      'sec-fetch-dest': 'image',
    };
    expect(await asking(toys)({ ...headers, ...embedded })).to.equal(403);
  });

  it('takes what the browser asked about first, what its own pages and listed ones send, and all that is no page', async () => {
    for (const given of [
      { ...foreign, 'content-type': 'application/json' },
      { ...foreign, 'content-type': 'application/x-ndjson' },
      { ...headers, origin: 'http://logs.example' },
      { ...headers, origin: 'https://app.example' },
      { ...headers, origin: 'https://behind.example', 'sec-fetch-site': 'same-origin' },
      { ...headers, origin: 'https://a.example' },
      headers,
      { ...foreign, authorization: 'Bearer token' },
    ])
      expect(await posting(given), JSON.stringify(given)).to.equal(200);
    expect(await asking(toys)(foreign)).to.equal(200);
  });
});

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
    for (const wrong of [
      basic('ann', 'pass-wor'),
      basic('ann', 'pass-word1'),
      basic('an', 'pass-word'),
      basic('', ''),
    ])
      for (const toys of [sending, reading])
        expect(await asking(toys)({ authorization: wrong })).to.equal(401);
    await Promise.all([sending.close(), reading.close()]);
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

describe('a quota', () => {
  it('lets exactly so many through, for each network by itself', async () => {
    const limit = createLimit(3, 3_600_000);
    const through = async (address: string) => (await limit.spend(address)) === undefined;
    for (let n = 0; n < 3; n++) expect(await through('203.0.113.9'), `${n}`).to.equal(true);
    expect(await through('203.0.113.9')).to.equal(false);
    expect(await through('203.0.113.8')).to.equal(true);
    await limit.refund('203.0.113.9');
    expect(await through('203.0.113.9')).to.equal(false);
    await limit.refund('203.0.113.9');
    await limit.refund('203.0.113.9');
    expect(await through('203.0.113.9')).to.equal(true);
    const wait = await limit.spend('203.0.113.9');
    expect(wait).to.be.within(3_500_000, 3_600_000);
  });

  it('ends its window in time, and says so, when the clock has been set back', async () => {
    const window = 40;
    const limit = createLimit(1, window);
    const { now } = Date;
    try {
      expect(await limit.spend('203.0.113.9')).to.equal(undefined);
      Date.now = () => now() - 3_600_000;
      expect(await limit.spend('203.0.113.9')).to.be.at.most(window);
      await eventually(async () => (await limit.spend('203.0.113.9')) === undefined);
    } finally {
      Date.now = now;
    }
  });

  it('counts an IPv6 caller by its /64, and an IPv4 caller also where it comes as IPv6', async () => {
    const limit = createLimit(2, 3_600_000);
    expect(await limit.spend('2001:db8:1:2::1')).to.equal(undefined);
    expect(await limit.spend('2001:db8:1:2:ffff::2')).to.equal(undefined);
    expect(await limit.spend('2001:db8:1:2::3')).to.be.a('number');
    expect(await limit.spend('2001:db8:1:3::3')).to.equal(undefined);
    expect(await limit.spend('203.0.113.9')).to.equal(undefined);
    expect(await limit.spend('::ffff:203.0.113.9')).to.equal(undefined);
    expect(await limit.spend('::ffff:cb00:7109')).to.be.a('number');
  });
});
