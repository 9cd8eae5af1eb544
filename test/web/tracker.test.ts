/** The tracker in a real browser, on pages of another origin: what is told of a visit, and what never is. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { asAdmin, useAnalytics } from '../support/analytics-node.js';
import { hasBrowser, startBrowser } from '../support/browser.js';
import { ask } from '../support/chat-client.js';
import { serveTagged } from '../support/tracked-page.js';

/** What a page of these tests can be told to do in its own words. */
declare const annals: { event(name: string, properties?: object): void; pageview(): void };
declare const history: { pushState(state: unknown, title: string, to: string): void } & Pick<
  History,
  'replaceState' | 'back'
>;
interface History {
  replaceState(state: unknown, title: string, to: string): void;
  back(): void;
}

describe('the tracker /m.js', function () {
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

  /** Oldest first: what came of a visit, with the reason where it was ignored. */
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

  const told = (site: string, ...expected: readonly string[]) =>
    eventually(async () => {
      expect(await attempts(site)).to.deep.equal(expected);
      return true;
    });

  it('is a script under 3 KB that may be kept for an hour, and loaded by any page', async () => {
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

  it('tells of the first view with its campaign, and keeps nothing with the visitor', async () => {
    const site = await mySite();
    await open(site, '', '&utm_source=news&utm_medium=mail&utm_campaign=may&secret=1#part');
    await told(site, 'pageview /start');
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

  it('tells of the origin that a visitor comes from, and nothing else of its address', async () => {
    const site = await mySite();
    const tag = encodeURIComponent(`data-site="${site}"`);
    const referer = `${origin.replace('127.0.0.1', 'localhost')}/people/ada?token=secret`;
    await page.goto(`${origin}/start?tag=${tag}`, { referer, waitUntil: 'load' });
    await told(site, 'pageview /start');
    expect(sent.map((body) => JSON.parse(body).referrer)).to.deep.equal([new URL(referer).origin]);
  });

  it('sends no event without a name, and of properties only what are some', async () => {
    const site = await mySite();
    await open(site, 'data-auto="false"');
    await page.evaluate(`
      for (const name of [undefined, null, '', '  ', 7, {}]) annals.event(name);
      const nameless = document.createElement('button');
      nameless.setAttribute('data-annals-event', ' ');
      document.body.append(nameless);
      nameless.click();
      for (const properties of [null, 'pro', [1], { plan: 'pro' }]) annals.event('Buy', properties)`);
    await told(site, ...Array.from({ length: 4 }, () => 'event Buy /start'));
    const properties = sent.map((body) => JSON.parse(body).properties ?? null);
    expect(properties).to.deep.equal([null, null, null, { plan: 'pro' }]);
  });

  const BROKEN: readonly (readonly [what: string, script: string, tag?: string])[] = [
    ['beacons throw', "navigator.sendBeacon = () => { throw new Error('no beacon') }"],
    ['there are neither beacons nor fetch', 'navigator.sendBeacon = fetch = undefined'],
    ['requests throw', "navigator.sendBeacon = undefined; fetch = () => { throw new Error('no fetch') }"],
    ['History can not be watched', 'Object.freeze(history); Object.freeze(History.prototype)'],
    ['History has no changes', 'history.pushState = history.replaceState = undefined'],
    ['its own name is taken', "Object.defineProperty(window, 'annals', { value: 'taken' })"],
    ['its endpoint is none', '', 'data-endpoint="http://["'],
    ['its site is blank', '', 'data-site=""'],
  ];
  for (const [what, script, tag = ''] of BROKEN)
    it(`throws nothing into the page where ${what}`, async () => {
      const faults: Error[] = [];
      page.on('pageerror', (fault) => faults.push(fault));
      await page.addInitScript(script);
      // The first attribute of a name is the one that counts.
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

  it('tells of each path that History comes to, once in a row, and of the campaign no more', async () => {
    const site = await mySite();
    await open(site, '', '&utm_source=news');
    await page.evaluate(() => {
      history.pushState(null, '', '/two?a=1');
      history.replaceState(null, '', '/two?a=2');
      history.pushState(null, '', '/three#here');
      history.replaceState(null, '', '/four');
      history.back();
    });
    await told(site, 'pageview /start', 'pageview /two', 'pageview /three', 'pageview /four', 'pageview /two');
    expect(sent.filter((body) => body.includes('utm_source'))).to.have.length(1);
  });

  it('tells of each view and click once where a page has the tag of a site twice, and to each site that it has one of', async () => {
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
    for (const each of [site, other]) await told(each, 'pageview /start', 'pageview /two', 'event Sign up /two');
  });

  it('tells of clicks on what is named an event, or is inside of it, and of no others', async () => {
    const site = await mySite();
    await open(site);
    await page.locator('#plain').click();
    await page.locator('b').click();
    await page.locator('#silent').click();
    await told(site, 'pageview /start', 'event Sign up /start', 'event Stopped /start');
    const hits = (await analytics.written(site)).flatMap(({ data }) => data.secret.hits);
    expect(hits.find(({ event }) => event === 'Sign up')?.properties).to.deep.equal([{ name: 'plan', value: 'pro' }]);
  });

  it('tells of a click that leaves the page, and of what a page says as it goes', async () => {
    const site = await mySite();
    await open(site);
    await page.evaluate("addEventListener('pagehide', () => annals.event('Gone', { size: 7, plan: 'free' }))");
    await page.getByRole('link', { name: 'Leave' }).click();
    await page.getByRole('heading', { name: 'Next' }).waitFor();
    await told(site, 'pageview /start', 'event Leave /start', 'event Gone /start');
  });

  it('tells by fetch where there is no beacon', async () => {
    const site = await mySite();
    await page.addInitScript('navigator.sendBeacon = undefined');
    await open(site);
    await told(site, 'pageview /start');
  });

  it('leaves out what its tag turns off, and sends where it says', async () => {
    const [manual, still, elsewhere] = [await mySite(), await mySite(), await mySite()];
    await open(manual, 'data-auto="false" data-clicks="false"');
    await page.locator('b').click();
    await page.evaluate(() => {
      history.pushState(null, '', '/two');
      annals.pageview();
      annals.event('Own');
    });
    await told(manual, 'pageview /two', 'event Own /two');
    await open(still, 'data-spa="false"');
    await page.evaluate(() => {
      history.pushState(null, '', '/two');
      annals.event('After');
    });
    await told(still, 'pageview /start', 'event After /two');
    const asked = page.waitForRequest(`${origin}/collect-here`);
    await open(elsewhere, 'data-endpoint="/collect-here"');
    expect(JSON.parse((await asked).postData() ?? '')).to.include({ site: elsewhere, path: '/start' });
  });

  for (const [signal, is] of [
    ['doNotTrack', "'1'"],
    ['globalPrivacyControl', 'true'],
  ])
    it(`sends nothing for who has ${signal}`, async () => {
      const site = await mySite();
      await page.addInitScript(`Object.defineProperty(navigator, '${signal}', { value: ${is} })`);
      await open(site);
      await page.locator('b').click();
      await page.evaluate(() => {
        history.pushState(null, '', '/two');
        annals.event('Own');
        annals.pageview();
      });
      // A page of the same context, without the signal, comes after all that this one sent.
      await page.getByRole('link', { name: 'Leave' }).click();
      await page.getByRole('heading', { name: 'Next' }).waitFor();
      expect(sent).to.deep.equal([]);
      await analytics.collect({ site, host: '127.0.0.1', path: '/last' }, { origin });
      expect(await attempts(site)).to.deep.equal(['pageview /last']);
    });

  it('is ignored on pages that are not of the site, and breaks none without one', async () => {
    const faults: Error[] = [];
    page.on('pageerror', (fault) => faults.push(fault));
    const site = await analytics.site({ domains: ['example.com'] });
    await open(site);
    await told(site, 'pageview /start host_not_allowed');
    await open('no-such-site');
    await told('no-such-site', 'pageview /start unknown_site');
    await page.goto(`${origin}/start`, { waitUntil: 'load' });
    await page.locator('b').click();
    expect(sent).to.have.length(2);
    expect(faults).to.deep.equal([]);
  });
});
