/** The dashboard in a real browser, left open: expired session, midnight, a deleted site, and a stalled live stream. */
import { expect } from 'chai';
import { ADMIN, asAdmin } from '../support/analytics-node.js';
import { accessible } from '../support/browser.js';
import { ask } from '../support/http-spec.js';
import { ADA, button, expectText, signInByToken, useDashboard } from './dashboard-page.js';

describe('dashboard left open', function () {
  this.timeout(120_000);
  const dashboard = useDashboard();
  const { analytics, base, open, openAt, letterTo } = dashboard;

  it('returns to sign-in when the session ends, and restores its view afterwards', async () => {
    const site = await analytics.site();
    const mails = dashboard.mails();
    await ask(base(), 'POST', '/api/auth/magic-link', { body: { email: ADA } });
    const { link } = await letterTo(ADA, mails + 1);
    const page = await open(`${link.pathname}${link.search}&site=${site}&days=90`);
    await button(page, `Sign in as ${ADA}`).click();
    await expectText(page, '#live-state', 'Live');
    // No requests are open, so only the stream reports the end.
    await button(page, 'Close').click();
    const [{ name = '', value = '' } = {}] = await page.context().cookies();
    const headers = { cookie: `${name}=${value}`, 'sec-fetch-site': 'same-origin' };
    await ask(base(), 'POST', '/api/auth/logout', { headers });
    await expectText(page, '#sign-in-trouble', 'Your session has ended');
    expect(await page.locator('#dashboard').isHidden()).to.equal(true);
    await signInByToken(page, 'a-wrong-token-of-an-admin');
    await expectText(page, '.form-error', 'The admin token is wrong');
    await page.getByLabel('Admin token').fill(ADMIN);
    await button(page, 'Sign in').click();
    await expectText(page, '#name', site);
    expect(await page.getByLabel('90 days').isChecked()).to.equal(true);
  });

  it('shows that a site was deleted elsewhere', async () => {
    await analytics.site();
    const site = await analytics.site();
    const page = await openAt(site);
    await analytics.given('DELETE', `/api/sites/${site}`, asAdmin());
    await expectText(page, '#note', `${site} was deleted.`);
    await page.locator(`#site option[value="${site}"]`).waitFor({ state: 'detached' });
    await accessible(page);
    await page.locator('#close-note').click();
    expect(await page.locator('#note').isHidden()).to.equal(true);
  });

  it('reloads the report at midnight without new hits', async () => {
    const site = await analytics.site();
    const page = await open(`/?site=${site}`);
    await page.clock.install();
    await page.reload();
    await page.route('**/api/report?*', async (route) => {
      const response = await route.fetch();
      await route.fulfill({
        response,
        json: { ...(await response.json()), generatedAt: '2026-11-22T23:59:59.000Z' },
      });
    });
    await signInByToken(page);
    await page.locator('#totals').waitFor();
    const reload = page.waitForRequest('**/api/report?*');
    await page.clock.fastForward(30_000);
    await reload;
  });

  it('reconnects when the live stream is silent for too long', async () => {
    const site = await analytics.site();
    const page = await open(`/?site=${site}`);
    await page.clock.install();
    // Like a proxy that has vanished without closing the connection.
    await page.route('**/api/live?*', () => {}, { times: 1 });
    const liveRequest = page.waitForRequest('**/api/live?*');
    await signInByToken(page);
    await liveRequest;
    await page.clock.fastForward(45_000);
    await expectText(page, '#live-state', 'Live');
  });
});
