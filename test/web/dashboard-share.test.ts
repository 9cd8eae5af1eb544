/** Sharing in a real browser: a public link, opened without sign-in and revoked; and the weekly mail. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { WEEKLY_MAILS } from '../../domain/analytics/weekly-mail.js';
import { accessible } from '../support/browser.js';
import { ADA, button, expectText, noScroll, picture, showList, useDashboard } from './dashboard-page.js';

const PHONE = { width: 390, height: 844 };

describe('dashboard that is shared', function () {
  this.timeout(120_000);
  const { analytics, base, open, openAt, letterTo } = useDashboard();

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
    await expectText(page, '#name', 'Wildflower Seeds');
    await expectText(page, '#totals', /Page views2.*Visitors1.*Events1/);
    expect(await page.title()).to.equal('Wildflower Seeds · Analytics');
    expect(await page.getByRole('button', { name: /Settings|Install|New site|Share|Account/ }).count()).to.equal(0);
    expect(await page.locator('#live, #who, #sign-in').count()).to.equal(0);
    await showList(page, 'Entry pages');
    await expectText(page, '#rows-pages', '/seeds1');
    await accessible(page);
    await picture(page, 'shared');
    await button(page, 'Buy').click();
    await expectText(page, '#totals', /Page views0.*Events1/);
    await page.getByText('7 days', { exact: true }).click();
    await page.waitForURL(/days=7/);
    expect(page.url()).to.match(new RegExp(`filters=.*${link.slice('/share'.length)}$`));
    await page.reload();
    await expectText(page, '#totals', /Page views0.*Events1/);
    await page.goBack();
    await page.goBack();
    await expectText(page, '#totals', /Page views2/);
  });

  it('works on a phone in dark mode, and ends when the link is revoked', async () => {
    const { page: own, link } = await sharedSite();
    const page = await open(link, { viewport: PHONE, colorScheme: 'dark' });
    await expectText(page, '#totals', /Page views2/);
    await noScroll(page);
    await accessible(page);
    await picture(page, 'shared-phone-dark');
    await button(own, 'Revoke').click();
    await button(own, 'Make a link').waitFor();
    await page.getByText('7 days', { exact: true }).click();
    await expectText(page, '[role=alert]', 'This link does not exist or was revoked');
    expect(await page.locator('#totals').count()).to.equal(0);
    await accessible(page);
    await picture(page, 'shared-revoked');
    await button(own, 'Make a link').click();
    await button(own, 'Revoke').waitFor();
    await button(page, 'Try again').click();
    await expectText(page, '[role=alert]', 'This link does not exist or was revoked');
  });

  it('subscribes to the weekly mail, and unsubscribes by its link without sign-in', async () => {
    const site = await analytics.site({ name: 'Wildflower Seeds' });
    const page = await open(`/?site=${site}`);
    await page.getByLabel('Email').fill(ADA);
    await button(page, 'Mail me a link').click();
    await page.goto((await letterTo(ADA)).link.href);
    await button(page, `Sign in as ${ADA}`).click();
    await page.locator('#site').selectOption(site);
    await button(page, 'Share').click();
    await expectText(page, 'dialog', `a summary of the week goes to ${ADA}`);
    await button(page, 'Make a link').click();
    await button(page, 'Subscribe').click();
    await button(page, 'Unsubscribe').waitFor();
    await accessible(page);
    await picture(page, 'weekly-mail');

    const { log, derivation } = analytics.observer.kernel;
    const events = await log.read(WEEKLY_MAILS);
    const [subscribed] = typeof events === 'string' ? [] : events;
    const id = String(subscribed?.data.subscriptionId);
    const secret = derivation.secret('analytics.unsubscribe-token', id).toString('base64url');
    const other = await open(`/unsubscribe?token=${id}.${secret}`, { viewport: PHONE, colorScheme: 'dark' });
    await expectText(other, 'main', 'This stops the summary of a site that is mailed each Monday');
    await accessible(other);
    await noScroll(other);
    await picture(other, 'unsubscribe-phone-dark');
    await button(other, 'Unsubscribe').click();
    await expectText(other, '[role=status]', 'You get no more weekly mails');
    await accessible(other);
    await page.reload();
    await button(page, 'Share').click();
    await button(page, 'Subscribe').click();
    await button(page, 'Unsubscribe').click();
    await button(page, 'Subscribe').waitFor();

    const wrong = await open(`/unsubscribe?token=${id}.x`);
    await button(wrong, 'Unsubscribe').click();
    await expectText(wrong, '[role=alert]', 'This link is not valid');
    await picture(wrong, 'unsubscribe-wrong');
    const incomplete = await open('/unsubscribe');
    await incomplete.getByText('This link is incomplete').waitFor();
    expect(await button(incomplete, 'Unsubscribe').count()).to.equal(0);
  });

  it('says who can get the weekly mail, on a phone in dark mode', async () => {
    const page = await openAt(await analytics.site(), { viewport: PHONE, colorScheme: 'dark' });
    await button(page, 'Share').click();
    await expectText(page, 'dialog', 'Sign in by a mailed link');
    await button(page, 'Make a link').click();
    await button(page, 'Revoke').waitFor();
    await accessible(page);
    await noScroll(page);
    await picture(page, 'share-dialog-phone-dark');
  });
});
