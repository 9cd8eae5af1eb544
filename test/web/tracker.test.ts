/** The tracker in a real browser, on pages of another origin: what it sends about a visit, and what it never sends. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { asAdmin, useAnalytics } from '../support/analytics-node.js';
import { hasBrowser, startBrowser } from '../support/browser.js';
import { ask } from '../support/http-spec.js';
import { serveTagged } from './tracked-page.js';

/** Globals of the test pages. */
declare const annals: { event(name: string, properties?: object): void; pageview(): void };
declare const history: { pushState(state: unknown, title: string, to: string): void } & Pick<
  History,
  'replaceState' | 'back'
>;
interface History {
  replaceState(state: unknown, title: string, to: string): void;
  back(): void;
}

describe('tracker script /m.js', function () {
  this.timeout(60_000);
  const analytics = useAnalytics();
  let browser: Browser;
  let server: Server;
  let origin: string;
  let page: Page;
  /** Bodies that the page sent to the service. */
  let sent: string[];
  before(async function () {
    if (!hasBrowser) this.skip();
    browser = await startBrowser();
    server = await serveTagged(() => `${analytics.bases[0]}/m.js`);
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(async () => {
    await browser?.close();
    server?.close();
  });
  beforeEach(async () => {
    page = await browser.newPage();
    sent = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/api/collect')) sent.push(request.postData() ?? '');
    });
  });
  afterEach(() => page.context().close());

  const mySite = () => analytics.site({ domains: ['127.0.0.1'], allowedEventProperties: ['plan', 'size'] });

  async function open(site: string, more = '', query = '', path = '/start') {
    const tag = encodeURIComponent(`data-site="${site}" ${more}`);
    await page.goto(`${origin}${path}?tag=${tag}${query}`, { waitUntil: 'load' });
  }

  /** The attempts of a visit, oldest first, with the reason where one was ignored. */
  async function attempts(site: string): Promise<string[]> {
    const { body } = await ask(
      analytics.bases[0]!,
      'GET',
      `/api/collect-attempts?site=${site}`,
      asAdmin({ headers: {} }),
    );
    return body.attempts
      .reverse()
      .map((each: { [name: string]: string | null }) =>
        [each.kind, each.eventName, each.path, each.reason].filter((part) => part !== null).join(' '),
      );
  }

  const expectAttempts = (site: string, ...expected: readonly string[]) =>
    eventually(async () => {
      expect(await attempts(site)).to.deep.equal(expected);
      return true;
    });

  it('is under 3 KB, cacheable for an hour, and loadable by any page', async () => {
    const answer = await fetch(`${analytics.bases[0]}/m.js`, { headers: { origin: 'https://example.com' } });
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('content-type')).to.equal('text/javascript; charset=utf-8');
    expect(answer.headers.get('cache-control')).to.equal('public, max-age=3600');
    expect(answer.headers.get('access-control-allow-origin')).to.equal('https://example.com');
    expect(answer.headers.get('access-control-allow-credentials')).to.equal('true');
    expect(answer.headers.get('vary')).to.equal('Origin');
    const script = await answer.text();
    expect(script.length).to.be.within(300, 3 * 1024 - 1);
    expect(script).not.to.match(/cookie|localStorage|sessionStorage|indexedDB/i);
    const etag = answer.headers.get('etag') ?? '';
    const again = await fetch(`${analytics.bases[0]}/m.js`, { headers: { 'if-none-match': etag } });
    expect(again.status).to.equal(304);
  });

  it('sends the first view with its campaign, and stores nothing in the browser', async () => {
    const site = await mySite();
    await open(site, '', '&utm_source=news&utm_medium=mail&utm_campaign=may&secret=1#part');
    await expectAttempts(site, 'pageview /start');
    const [event] = await analytics.written(site);
    expect(event?.data.secret.hits[0]).to.include({ path: '/start', browser: 'Chrome' });
    expect(event?.data.secret.hits[0]?.campaign).to.deep.equal({
      source: 'news',
      medium: 'mail',
      campaign: 'may',
    });
    expect(sent.join()).not.to.contain('secret');
    expect(await page.context().storageState()).to.deep.equal({ cookies: [], origins: [] });
  });

  it('sends only the origin of the referrer', async () => {
    const site = await mySite();
    const tag = encodeURIComponent(`data-site="${site}"`);
    const referer = `${origin.replace('127.0.0.1', 'localhost')}/people/ada?token=secret`;
    await page.goto(`${origin}/start?tag=${tag}`, { referer, waitUntil: 'load' });
    await expectAttempts(site, 'pageview /start');
    expect(sent.map((body) => JSON.parse(body).referrer)).to.deep.equal([new URL(referer).origin]);
  });

  it('sends no event without a name, and only valid properties', async () => {
    const site = await mySite();
    await open(site, 'data-auto="false"');
    await page.evaluate(`
      for (const name of [undefined, null, '', '  ', 7, {}]) annals.event(name);
      const nameless = document.createElement('button');
      nameless.setAttribute('data-annals-event', ' ');
      document.body.append(nameless);
      nameless.click();
      for (const properties of [null, 'pro', [1], { plan: 'pro' }]) annals.event('Buy', properties)`);
    await expectAttempts(site, ...Array.from({ length: 4 }, () => 'event Buy /start'));
    const properties = sent.map((body) => JSON.parse(body).properties ?? null);
    expect(properties).to.deep.equal([null, null, null, { plan: 'pro' }]);
  });

  const BROKEN: readonly (readonly [what: string, script: string, tag?: string])[] = [
    ['beacons throw', "navigator.sendBeacon = () => { throw new Error('no beacon') }"],
    ['there are neither beacons nor fetch', 'navigator.sendBeacon = fetch = undefined'],
    ['requests throw', "navigator.sendBeacon = undefined; fetch = () => { throw new Error('no fetch') }"],
    ['History cannot be patched', 'Object.freeze(history); Object.freeze(History.prototype)'],
    ['History has no change methods', 'history.pushState = history.replaceState = undefined'],
    ['its own name is taken', "Object.defineProperty(window, 'annals', { value: 'taken' })"],
    ['its endpoint is invalid', '', 'data-endpoint="http://["'],
    ['its site is blank', '', 'data-site=""'],
  ];
  for (const [what, script, tag = ''] of BROKEN)
    it(`throws nothing into the page when ${what}`, async () => {
      const faults: Error[] = [];
      page.on('pageerror', (fault) => faults.push(fault));
      await page.addInitScript(script);
      // The first of duplicate attributes counts.
      const all = encodeURIComponent(`${tag} data-site="${await mySite()}"`);
      await page.goto(`${origin}/start?tag=${all}`, { waitUntil: 'load' });
      await page.evaluate(`{
        const cyclic = {};
        cyclic.self = cyclic;
        if (window.annals.event) {
          annals.event('Own', cyclic);
          annals.event('Own', { get plan() { throw new Error('no plan') } });
          annals.pageview();
        }
        const form = document.createElement('form');
        form.innerHTML = '<input name="attributes"><button type="button">Go</button>';
        form.setAttribute('data-annals-event', 'Form');
        document.body.append(form);
        form.querySelector('button').click();
        if (history.pushState) history.pushState(null, '', '/two');
      }`);
      await page.locator('b').click();
      await page.getByRole('link', { name: 'Leave' }).click();
      await page.getByRole('heading', { name: 'Next' }).waitFor();
      expect(faults.map(({ message }) => message)).to.deep.equal([]);
    });

  it('sends each path change of History once, and the campaign only once', async () => {
    const site = await mySite();
    await open(site, '', '&utm_source=news');
    await page.evaluate(() => {
      history.pushState(null, '', '/two?a=1');
      history.replaceState(null, '', '/two?a=2');
      history.pushState(null, '', '/three#here');
      history.replaceState(null, '', '/four');
      history.back();
    });
    await expectAttempts(
      site,
      'pageview /start',
      'pageview /two',
      'pageview /three',
      'pageview /four',
      'pageview /two',
    );
    expect(sent.filter((body) => body.includes('utm_source'))).to.have.length(1);
    // Later views come from the page itself, so only the first one is an entry.
    const hits = (await analytics.written(site)).flatMap(({ data }) => data.secret.hits);
    expect(hits.filter(({ isInternal }) => !isInternal).map(({ path }) => path)).to.deep.equal(['/start']);
  });

  it('sends each view and click once for duplicate tags, and to each site that has a tag', async () => {
    const [site, other] = [await mySite(), await mySite()];
    await open(site);
    for (const again of [site, other, site])
      await page.evaluate(`new Promise((loaded) => {
        const tag = document.createElement('script');
        tag.src = document.querySelector('script').src;
        tag.dataset.site = '${again}';
        tag.onload = loaded;
        document.head.append(tag);
      })`);
    await page.evaluate(() => history.pushState(null, '', '/two'));
    await page.locator('b').click();
    for (const each of [site, other])
      await expectAttempts(each, 'pageview /start', 'pageview /two', 'event Sign up /two');
  });

  it('sends clicks on named elements and their children, and no others', async () => {
    const site = await mySite();
    await open(site);
    await page.locator('#plain').click();
    await page.locator('b').click();
    await page.locator('#silent').click();
    await expectAttempts(site, 'pageview /start', 'event Sign up /start', 'event Stopped /start');
    const hits = (await analytics.written(site)).flatMap(({ data }) => data.secret.hits);
    expect(hits.find(({ event }) => event === 'Sign up')?.properties).to.deep.equal([{ name: 'plan', value: 'pro' }]);
  });

  it('sends a click that leaves the page, and events from pagehide', async () => {
    const site = await mySite();
    await open(site);
    await page.evaluate("addEventListener('pagehide', () => annals.event('Gone', { size: 7, plan: 'free' }))");
    await page.getByRole('link', { name: 'Leave' }).click();
    await page.getByRole('heading', { name: 'Next' }).waitFor();
    await expectAttempts(site, 'pageview /start', 'event Leave /start', 'event Gone /start');
  });

  it('sends with fetch where there are no beacons', async () => {
    const site = await mySite();
    await page.addInitScript('navigator.sendBeacon = undefined');
    await open(site);
    await expectAttempts(site, 'pageview /start');
  });

  it("omits what its tag turns off, and sends to the tag's endpoint", async () => {
    const [manual, still, elsewhere] = [await mySite(), await mySite(), await mySite()];
    await open(manual, 'data-auto="false" data-clicks="false"');
    await page.locator('b').click();
    await page.evaluate(() => {
      history.pushState(null, '', '/two');
      annals.pageview();
      annals.event('Own');
    });
    await expectAttempts(manual, 'pageview /two', 'event Own /two');
    await open(still, 'data-spa="false"');
    await page.evaluate(() => {
      history.pushState(null, '', '/two');
      annals.event('After');
    });
    await expectAttempts(still, 'pageview /start', 'event After /two');
    const collectRequest = page.waitForRequest(`${origin}/collect-here`);
    await open(elsewhere, 'data-endpoint="/collect-here"');
    expect(JSON.parse((await collectRequest).postData() ?? '')).to.include({ site: elsewhere, path: '/start' });
  });

  for (const [signal, is] of [
    ['doNotTrack', "'1'"],
    ['globalPrivacyControl', 'true'],
  ])
    it(`sends nothing with ${signal}`, async () => {
      const site = await mySite();
      await page.addInitScript(`Object.defineProperty(navigator, '${signal}', { value: ${is} })`);
      await open(site);
      await page.locator('b').click();
      await page.evaluate(() => {
        history.pushState(null, '', '/two');
        annals.event('Own');
        annals.pageview();
      });
      // A later page of the same context, without the signal, would send after everything this one sent.
      await page.getByRole('link', { name: 'Leave' }).click();
      await page.getByRole('heading', { name: 'Next' }).waitFor();
      expect(sent).to.deep.equal([]);
      await analytics.collect({ site, host: '127.0.0.1', path: '/last' }, { origin });
      expect(await attempts(site)).to.deep.equal(['pageview /last']);
    });

  it('is ignored on pages of other sites, and harmless without a site', async () => {
    const faults: Error[] = [];
    page.on('pageerror', (fault) => faults.push(fault));
    const site = await analytics.site({ domains: ['example.com'] });
    await open(site);
    await expectAttempts(site, 'pageview /start host_not_allowed');
    await open('no-such-site');
    await expectAttempts('no-such-site', 'pageview /start unknown_site');
    await page.goto(`${origin}/start`, { waitUntil: 'load' });
    await page.locator('b').click();
    expect(sent).to.have.length(2);
    expect(faults).to.deep.equal([]);
  });
});
