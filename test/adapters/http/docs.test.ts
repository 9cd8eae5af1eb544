/** API documents of a service and the interactive reference in a real browser: rendered, authorised, tried out, same origin. */
import { silentLogger } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { parse } from 'yaml';
import { createDerivation } from '../../../adapters/crypto/derivation.js';
import { documentRoutes } from '../../../adapters/http/server/api-docs.js';
import { type Listening, listen } from '../../../adapters/http/server/http-server.js';
import { problem, type ServicePolicy, sameOrigin } from '../../../adapters/http/server/policy.js';
import type { Route } from '../../../adapters/http/server/route.js';
import { hasBrowser, startBrowser } from '../../support/browser.js';

const policy: ServicePolicy = {
  service: 'toys',
  title: 'Toys & <more>',
  version: '1.2.3',
  cors: sameOrigin,
  securitySchemes: {
    bearer: { type: 'http', scheme: 'bearer' },
    basic: { type: 'http', scheme: 'basic' },
  },
};

interface OpenApi {
  readonly paths: { readonly [path: string]: { readonly post: { readonly security: unknown } } };
}

const counted: Route = {
  method: 'POST',
  path: '/api/boxes/:box',
  summary: 'Put toys into a box',
  tags: ['Boxes'],
  security: ['bearer', 'basic'],
  query: { type: 'object', properties: { dry: { type: 'boolean' } } },
  body: {
    type: 'object',
    required: ['toys'],
    properties: { toys: { type: 'array', items: { type: 'string' } } },
  },
  answers: { 201: { description: 'They are in', schema: { type: 'object' } } },
  admit: ({ bearer, basic }) => {
    if (basic?.password === 'let-me-in') return basic.username;
    return bearer === 'let-me-in' ? 'Ada' : problem(401, 'Who are you?');
  },
  handle: ({ params: { box } }, caller) => ({ status: 201, body: { box, by: caller } }),
};

describe('API documents', () => {
  let service: Listening;
  let origin: string;
  before(async () => {
    service = await listen(policy, [counted, ...documentRoutes(policy, [counted])], {
      host: '127.0.0.1',
      port: 0,
      logger: silentLogger,
      derivation: createDerivation(Buffer.alloc(32, 7)),
      clientAddress: (address) => address,
    });
    origin = service.url;
  });
  after(() => service?.close());

  it('are equal in JSON and YAML and name the service', async () => {
    const json = (await (await fetch(`${origin}/openapi.json`)).json()) as OpenApi;
    const yaml = await fetch(`${origin}/openapi.yaml`);
    expect(yaml.headers.get('content-type')).to.equal('application/yaml; charset=utf-8');
    expect(parse(await yaml.text())).to.deep.equal(json);
    expect(json).to.have.property('openapi', '3.1.0');
    expect(json.paths['/api/boxes/{box}']?.post.security).to.deep.equal([{ bearer: [] }, { basic: [] }]);
    expect(json).to.have.property('paths').that.has.keys('/api/boxes/{box}', '/openapi.json', '/openapi.yaml', '/docs');
  });

  it('have a page that other origins cannot script, frame or call', async () => {
    const page = await fetch(`${origin}/docs`);
    expect(page.headers.get('content-type')).to.equal('text/html; charset=utf-8');
    const rules = page.headers.get('content-security-policy') ?? '';
    expect(rules)
      .to.include("default-src 'none'")
      .and.include("script-src 'self';")
      .and.include("frame-ancestors 'none'");
    const text = await page.text();
    expect(text)
      .to.include('<title>Toys &amp; &lt;more&gt;</title>')
      .and.not.match(/(?:src|href)="(?:https?:)?\/\//);
  });

  it('have cacheable assets and nothing else', async () => {
    const text = await (await fetch(`${origin}/docs`)).text();
    const parts = [...text.matchAll(/(?:src|href)="(docs\/[^"]+)"/g)].map(([, path]) => path);
    expect(parts).to.have.length(5);
    for (const path of parts) {
      const part = await fetch(`${origin}/${path}`);
      expect(part.status, path).to.equal(200);
      expect(part.headers.get('cache-control')).to.include('immutable');
      expect(part.headers.get('content-type')).to.match(/^(?:text\/(?:css|javascript); charset=utf-8|image\/png)$/);
    }
    for (const path of ['index.html', 'package.json', '..%2fpackage.json', '%2e%2e%2fpackage.json', 'constructor']) {
      expect((await fetch(`${origin}/docs/${path}`)).status, path).to.equal(404);
    }
  });

  describe('in a browser', function () {
    this.timeout(120_000);
    let browser: Browser;
    let page: Page;
    let requested: string[];
    let complaints: string[];
    before(async function () {
      if (!hasBrowser) this.skip();
      browser = await startBrowser();
    });
    after(() => browser?.close());
    beforeEach(async () => {
      [requested, complaints] = [[], []];
      page = await browser.newPage();
      page.on('request', (request) => requested.push(request.url()));
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('console', (message) => {
        if (message.text().includes('Content Security Policy')) complaints.push(message.text());
      });
      await page.goto(`${origin}/docs`);
      await page.locator('.opblock').first().waitFor();
    });
    afterEach(() => page.close());

    const send = async () => {
      const route = page.locator('.opblock', { hasText: 'Put toys into a box' });
      if (!(await route.locator('.execute').isVisible())) await route.locator('.opblock-summary').click();
      await route.locator('input[placeholder="box"]').fill('red');
      await route.locator('textarea').fill('{"toys":["bear"]}');
      const answered = page.waitForResponse((response) => response.url().includes('/api/boxes/'));
      await route.locator('.execute').click();
      const response = await answered;
      await route
        .locator('.live-responses-table .response-col_status')
        .filter({ hasText: String(response.status()) })
        .waitFor();
      return { status: response.status(), body: await response.json() };
    };

    it('let a reader authorise and send a request, without calling other origins', async () => {
      expect(await send()).to.deep.include({ status: 401 });
      await page.locator('.btn.authorize').first().click();
      const dialog = page.locator('.dialog-ux');
      await dialog.locator('#auth-bearer-value, input[type=text]').first().fill('let-me-in');
      await dialog.locator('.btn.authorize').first().click();
      await dialog.locator('.btn-done').first().click();
      expect(await send()).to.deep.equal({ status: 201, body: { box: 'red', by: 'Ada' } });
      expect(complaints).to.deep.equal([]);
      expect(requested.filter((url) => !url.startsWith(`${origin}/`) && !url.startsWith('data:'))).to.deep.equal([]);
      if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/docs.png` });
    });

    it('accept a name and a password too', async () => {
      await page.locator('.btn.authorize').first().click();
      const basic = page.locator('.dialog-ux .auth-container', { hasText: 'basic' });
      await basic.locator('input[name=username]').fill('Bob');
      await basic.locator('input[name=password]').fill('let-me-in');
      await basic.locator('.btn.authorize').click();
      await page.locator('.dialog-ux .close-modal').click();
      expect(await send()).to.deep.equal({ status: 201, body: { box: 'red', by: 'Bob' } });
    });

    it('stay on their origin even if the URL names another document', async () => {
      await page.goto(
        `${origin}/docs?url=https://elsewhere.example/openapi.json&configUrl=https://elsewhere.example/c`,
      );
      await page.locator('.opblock').first().waitFor();
      expect(await page.locator('.info .title').textContent()).to.include('Toys & <more>');
      expect(requested.filter((url) => url.startsWith('https://elsewhere'))).to.deep.equal([]);
    });
  });
});
