/** The dashboard in a real browser, left open: until its session ends, over midnight, while others delete what it shows, and where its line is cut. */
import { expect } from 'chai';
import { ADMIN, asAdmin } from '../support/analytics-node.js';
import { accessible } from '../support/browser.js';
import { ask } from '../support/chat-client.js';
import { ADA, button, says, signInByToken, useDashboard } from '../support/dashboard-page.js';

describe('the dashboard, left open', function () {
  this.timeout(120_000);
  const dashboard = useDashboard();
  const { analytics, base, open, openAt, letterTo } = dashboard;

  it('goes back to signing in as the session ends, and on from where it was', async () => {
    const site = await analytics.site();
    const mails = dashboard.mails();
    await ask(base(), 'POST', '/api/auth/magic-link', { body: { email: ADA } });
    const { link } = await letterTo(ADA, mails + 1);
    const page = await open(`${link.pathname}${link.search}&site=${site}&days=90`);
    await button(page, `Sign in as ${ADA}`).click();
    await says(page, '#live-state', 'Live');
    // Nothing is asked any more: the stream alone tells.
    await button(page, 'Close').click();
    const [{ name = '', value = '' } = {}] = await page.context().cookies();
    const headers = { cookie: `${name}=${value}`, 'sec-fetch-site': 'same-origin' };
    await ask(base(), 'POST', '/api/auth/logout', { headers });
    await says(page, '#sign-in-trouble', 'Your session has ended');
    expect(await page.locator('#dashboard').isHidden()).to.equal(true);
    await signInByToken(page, 'a-wrong-token-of-an-admin');
    await says(page, '#sign-in-trouble', 'The admin token is wrong');
    await page.getByLabel('Admin token').fill(ADMIN);
    await button(page, 'Sign in').click();
    await says(page, '#name', site);
    expect(await page.getByLabel('90 days').isChecked()).to.equal(true);
  });

  it('says that a site was deleted elsewhere', async () => {
    await analytics.site();
    const site = await analytics.site();
    const page = await openAt(site);
    await analytics.given('DELETE', `/api/sites/${site}`, asAdmin());
    await says(page, '#note', `${site} was deleted.`);
    await page.locator(`#site option[value="${site}"]`).waitFor({ state: 'detached' });
    await accessible(page);
    await page.locator('#close-note').click();
    expect(await page.locator('#note').isHidden()).to.equal(true);
  });

  it('counts anew when the day turns, though nothing comes', async () => {
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
    const again = page.waitForRequest('**/api/report?*');
    await page.clock.fastForward(30_000);
    await again;
  });

  it('follows again where the stream is silent for longer than it can be', async () => {
    const site = await analytics.site();
    const page = await open(`/?site=${site}`);
    await page.clock.install();
    // As behind a proxy that has gone, and told nobody.
    await page.route('**/api/live?*', () => {}, { times: 1 });
    const asked = page.waitForRequest('**/api/live?*');
    await signInByToken(page);
    await asked;
    await page.clock.fastForward(45_000);
    await says(page, '#live-state', 'Live');
  });
});
