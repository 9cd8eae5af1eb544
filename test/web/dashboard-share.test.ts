/** A public link in a real browser: made in the dashboard, opened without sign-in, and revoked. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { accessible } from '../support/browser.js';
import { button, noScroll, picture, says, showList, useDashboard } from './dashboard-page.js';

const PHONE = { width: 390, height: 844 };

describe('dashboard shared by a public link', function () {
  this.timeout(120_000);
  const { analytics, base, open, openAt } = useDashboard();

  async function sharedSite(): Promise<{ readonly site: string; readonly page: Page; readonly link: string }> {
    const site = await analytics.site({ name: 'Wildflower Seeds' });
    await analytics.collect([
      { site, path: '/seeds', referrer: 'https://news.example/' },
      { site, path: '/basket', referrer: 'https://example.com/seeds' },
      { site, path: '/basket', event: 'Buy' },
    ]);
    const page = await openAt(site);
    await button(page, 'Share').click();
    await button(page, 'Make a link').click();
    const link = (await page.locator('dialog code').textContent()) ?? '';
    expect(link).to.contain(`${base()}/share#${site}.`);
    return { site, page, link: link.slice(base().length) };
  }

  it('shows the report and filters, keeps its address, and offers nothing that needs sign-in', async () => {
    const { page: own, link } = await sharedSite();
    await accessible(own);
    await picture(own, 'share-dialog');
    const page = await open(link);
    await says(page, '#name', 'Wildflower Seeds');
    await says(page, '#totals', /Page views2.*Visitors1.*Events1/);
    expect(await page.title()).to.equal('Wildflower Seeds · Analytics');
    expect(await page.getByRole('button', { name: /Settings|Install|New site|Share|Account/ }).count()).to.equal(0);
    expect(await page.locator('#live, #who, #sign-in').count()).to.equal(0);
    await showList(page, 'Entry pages');
    await says(page, '#rows-pages', '/seeds1');
    await accessible(page);
    await picture(page, 'shared');
    await button(page, 'Buy').click();
    await says(page, '#totals', /Page views0.*Events1/);
    await page.getByText('7 days', { exact: true }).click();
    await page.waitForURL(/days=7/);
    expect(page.url()).to.match(new RegExp(`filters=.*${link.slice('/share'.length)}$`));
    await page.reload();
    await says(page, '#totals', /Page views0.*Events1/);
    await page.goBack();
    await page.goBack();
    await says(page, '#totals', /Page views2/);
  });

  it('works on a phone in dark mode, and ends when the link is revoked', async () => {
    const { page: own, link } = await sharedSite();
    const page = await open(link, { viewport: PHONE, colorScheme: 'dark' });
    await says(page, '#totals', /Page views2/);
    await noScroll(page);
    await accessible(page);
    await picture(page, 'shared-phone-dark');
    await button(own, 'Revoke').click();
    await button(own, 'Make a link').waitFor();
    await page.getByText('7 days', { exact: true }).click();
    await says(page, '[role=alert]', 'This link does not exist or was revoked');
    expect(await page.locator('#totals').count()).to.equal(0);
    await accessible(page);
    await picture(page, 'shared-revoked');
    await button(own, 'Make a link').click();
    await button(own, 'Revoke').waitFor();
    await button(page, 'Try again').click();
    await says(page, '[role=alert]', 'This link does not exist or was revoked');
  });
});
