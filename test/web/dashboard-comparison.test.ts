/** The dashboard with an incomplete comparison period, and more values than a list shows. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { FIREFOX } from '../support/analytics-node.js';
import { accessible } from '../support/browser.js';
import { run } from '../support/server-process.js';
import { button, expectText, noScroll, picture, useDashboard } from './dashboard-page.js';

const DAY_MS = 86_400_000;
const PHONE = { width: 390, height: 844 };

/** Opens the dialog with all rows of a list, which renders only rows in view, and searches in it. */
async function showAll(page: Page) {
  await button(page, 'All: Pages').click();
  const rows = page.locator('.all-rows');
  await expectText(page, '.all-rows', '1,000 rows');
  expect(await rows.locator('.list-row').count()).to.be.within(5, 100);
  await accessible(page);
  await picture(page, 'all-pages');
  await page.getByRole('searchbox', { name: 'Search' }).fill('(OTHER');
  await expectText(page, '.all-rows', '1 row');
  await expectText(page, '.all-rows .list-row', /^\(other\).*\d$/);
  await page.getByRole('searchbox', { name: 'Search' }).fill('nothing like it');
  await expectText(page, '.all-rows', 'Nothing matches.');
  await button(page, 'Close').click();
  expect(await page.getByRole('dialog').count()).to.equal(0);
}

describe('dashboard of a new site with many invented values', function () {
  this.timeout(120_000);
  const { analytics, openAt } = useDashboard();

  it('says that there is no earlier data, and ranks frequent values before invented ones', async () => {
    const site = await analytics.site();
    for (let batch = 0; batch < 13; batch++)
      await analytics.collect(
        Array.from({ length: 100 }, (_, n) => ({ site, path: `/invented/${100 * batch + n}` })),
        { 'user-agent': 'nothing that is known' },
      );
    await analytics.collect(
      Array.from({ length: 60 }, (_, n) => ({
        site,
        path: '/pricing',
        ...(n % 3 === 0 && { referrer: 'https://news.example/' }),
      })),
      { 'user-agent': FIREFOX },
    );
    const page = await openAt(site);
    await expectText(page, '#totals', /Page views1,360no earlier data/);
    expect(await page.locator('#totals .up, #totals .down').count()).to.equal(0);
    const items = async (list: string) => page.locator(`[aria-labelledby=list-${list}] li`).allTextContents();
    expect((await items('pages'))[0]).to.match(/^\/pricing4\.4 %60$/);
    expect((await items('referrers'))[0]).to.match(/^\(direct\).*1,340$/);
    expect((await items('browsers'))[0]).to.match(/^\(unknown\).*1,300$/);
    await showAll(page);
    await picture(page, 'incomplete-light');
    await page.emulateMedia({ colorScheme: 'dark' });
    await picture(page, 'incomplete-dark');
    const phone = await openAt(site, { viewport: PHONE });
    await expectText(phone, '#totals', /no earlier data/);
    await noScroll(phone);
    await picture(phone, 'incomplete-phone-light');
    await phone.emulateMedia({ colorScheme: 'dark' });
    await picture(phone, 'incomplete-phone-dark');
  });

  it('leaves today, which is not over, out of the comparison', async () => {
    const site = await analytics.site();
    const noon = (ago: number) => Math.floor(Date.now() / DAY_MS - ago) * DAY_MS + DAY_MS / 2;
    const hits = (ago: number, count: number) =>
      Array.from({ length: count }, () => JSON.stringify({ site, path: '/', timestamp: noon(ago) }));
    const lines = [...hits(30, 1), ...hits(13, 10), ...hits(7, 40), ...hits(3, 12)].join('\n');
    const { stderr } = await run(['analytics', 'import', ...analytics.storeFlags], lines);
    expect(stderr).to.contain('63 hits imported');
    await analytics.collect(Array.from({ length: 5 }, () => ({ site, path: '/' })));
    const page = await openAt(site, { viewport: PHONE });
    await page.getByText('7 days', { exact: true }).click();
    await expectText(page, '#totals', /Page views1720 % more from 10 in the first 6 of the previous 7 days/);
    await expectText(page, '#totals', /Events0none in the first 6 of the previous 7 days/);
    await accessible(page);
    await noScroll(page);
    await picture(page, 'without-today-phone');
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.emulateMedia({ colorScheme: 'dark' });
    await picture(page, 'without-today-dark');
    // A past period is compared as a whole.
    await button(page, 'Earlier period').click();
    await expectText(page, '#totals', /Page views50/);
    expect(await page.locator('#totals').textContent()).not.to.contain('first');
  });
});
