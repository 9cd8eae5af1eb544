/** Access to the log service, in particular by web pages of other sites. */
import { expect } from 'chai';
import { type LogsAccess, logsPolicy } from '../../../adapters/http/logs/policy.js';
import { send } from '../../support/http-spec.js';
import { echo, serveToys, statusWith, type Toys } from '../toy-http-service.js';

describe('log service without credentials', () => {
  async function withService(access: Partial<LogsAccess>, work: (toys: Toys) => Promise<void>) {
    const policy = logsPolicy('1.0.0', { open: true, password: false, host: '127.0.0.1', ...access });
    const toys = await serveToys([echo({ method: 'GET', path: '/toys' })], policy);
    await work(toys).finally(toys.close);
  }

  it('answers requests under local host names and from local origins', () =>
    withService({}, async (toys) => {
      for (const host of ['localhost', 'LOCALHOST:80', '127.0.0.1:3003', '127.8.8.8', '[::1]:3003', '[::1]']) {
        expect(await statusWith(toys)({ host }), host).to.equal(200);
      }
      for (const origin of ['http://localhost:5173', 'https://127.0.0.1', 'http://[::1]:8080']) {
        expect(await statusWith(toys)({ host: 'localhost', origin }), origin).to.equal(200);
      }
    }));

  it('rejects pages of other sites, including preflights, on every path', () =>
    withService({}, async (toys) => {
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
          expect(await statusWith(toys)({ host: 'localhost', origin }, method), `${method} ${origin}`).to.equal(403);
        }
      }
      const headers = { host: 'localhost', origin: 'https://evil.example' };
      const refused = await send(toys.url, { method: 'GET', path: '/no/such/path', headers });
      expect([refused.status, typeof JSON.parse(refused.text).error]).to.deep.equal([403, 'string']);
      expect(refused.headers).not.to.have.property('access-control-allow-origin');
    }));

  it('rejects host names that only resolve to this machine', () =>
    withService({}, async (toys) => {
      for (const host of ['evil.example', 'evil.example:3003', 'localhost.evil.example', '127.0.0.1.nip.io']) {
        expect(await statusWith(toys)({ host }), host).to.equal(403);
      }
    }));

  it('rejects embedding by other sites, and answers links', () =>
    withService({}, async (toys) => {
      const embedded = (mode: string, destination: string, site = 'cross-site') =>
        statusWith(toys)({
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

  it('checks the host of an absolute request target instead of the Host header', () =>
    withService({}, async (toys) => {
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

  it('answers under its listen address and that of its appUrl', () =>
    withService({ host: 'logs.lan', appUrl: 'https://logs.example.com/here' }, async (toys) => {
      for (const host of ['logs.lan:3003', 'logs.example.com', 'Logs.Example.com:8443']) {
        expect(await statusWith(toys)({ host }), host).to.equal(200);
      }
      expect(await statusWith(toys)({ host: 'example.com' })).to.equal(403);
    }));

  it('accepts pages of configured origins, and of all origins with *', async () => {
    await withService({ origins: ['https://a.example'] }, async (toys) => {
      const from = (origin: string) => statusWith(toys)({ host: 'localhost', origin });
      expect(await from('https://a.example')).to.equal(200);
      expect(await from('https://b.example')).to.equal(403);
    });
    await withService({ origins: ['*'] }, async (toys) => {
      expect(await statusWith(toys)({ host: 'localhost', origin: 'https://b.example' })).to.equal(200);
      expect(await statusWith(toys)({ host: 'b.example', origin: 'https://b.example' })).to.equal(403);
    });
  });

  it('leaves access to credentials where they are configured', () =>
    withService({ open: false }, async (toys) => {
      expect(await statusWith(toys)({ host: 'logs.example', origin: 'https://a.example' })).to.equal(200);
    }));
});

describe('log service with a password', () => {
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
    const routes = [echo({ path: '/toys', anyContentType: true, body: {} }), echo({ method: 'GET', path: '/toys' })];
    toys = await serveToys(routes, policy);
  });
  after(() => toys.close());
  const post = (given: { [name: string]: string }) => statusWith(toys)(given, 'POST');

  it('rejects cross-origin requests whose password the browser added without a preflight', async () => {
    for (const type of ['text/plain;charset=UTF-8', 'multipart/form-data; boundary=a', 'TEXT/PLAIN'])
      expect(await post({ ...foreign, 'content-type': type }), type).to.equal(403);
    expect(await post(foreign)).to.equal(403);
    expect(await post({ ...foreign, origin: 'null' })).to.equal(403);
    const embedded = {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'no-cors',
      'sec-fetch-dest': 'image',
    };
    expect(await statusWith(toys)({ ...headers, ...embedded })).to.equal(403);
  });

  it('accepts preflighted requests, pages of its own and configured origins, and other clients', async () => {
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
      expect(await post(given), JSON.stringify(given)).to.equal(200);
    expect(await statusWith(toys)(foreign)).to.equal(200);
  });
});
