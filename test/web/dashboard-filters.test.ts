/** The dashboard in a real browser: filters, the hours of a day, all sites at a glance, and typed text that is kept. */
import { expect } from 'chai';
import { FIREFOX, SAFARI } from '../support/analytics-node.js';
import { accessible } from '../support/browser.js';
import { button, expectText, noScroll, picture, showList, signInByToken, useDashboard } from './dashboard-page.js';

const PHONE = { width: 390, height: 844 };

describe('dashboard with filters', function () {
  this.timeout(120_000);
  const { analytics, open, openAt } = useDashboard();

  async function visitedSite(): Promise<string> {
    const site = await analytics.site({ allowedEventProperties: ['plan'] });
    await analytics.collect(
      [
        { site, path: '/pricing', referrer: 'https://news.example/' },
        { site, path: '/pricing', campaign: { utm_source: 'letter', utm_medium: 'mail' } },
        { site, path: '/pricing', event: 'Buy', properties: { plan: 'pro' } },
      ],
      { 'user-agent': FIREFOX },
    );
    await analytics.collect([{ site, path: '/about' }], { 'user-agent': SAFARI });
    return site;
  }

  it('filters by clicking rows, keeps filters in the address, and names the lists that are not available', async () => {
    const site = await visitedSite();
    const page = await openAt(site);
    await expectText(page, '#totals', /Page views3.*Visitors2.*Events1/);
    await button(page, '/pricing').click();
    await expectText(page, '#totals', /Page views2.*VisitorsNot counted with filters.*Events1/);
    const rows = (list: string) => page.locator(`[aria-labelledby=list-${list}] li`).allTextContents();
    expect(await rows('browsers')).to.deep.equal(['Firefox100 %3']);
    expect(await rows('events')).to.deep.equal(['Buy100 %1']);
    await showList(page, 'Properties of events');
    await expectText(page, '[aria-labelledby=list-properties]:is(section)', 'Not counted with filters');
    await accessible(page);
    await picture(page, 'filtered');

    await showList(page, 'Campaigns');
    await button(page, 'letter / mail').click();
    await expectText(page, '#totals', /Page views1.*Events0/);
    await page.reload();
    await expectText(page, '#totals', /Page views1.*Events0/);
    await button(page, 'Remove the filter Campaigns: letter / mail').click();
    await expectText(page, '#totals', /Page views2/);
    await page.goBack();
    await expectText(page, '#totals', /Page views1.*Events0/);
    await button(page, 'Remove all').click();
    await expectText(page, '#totals', /Visitors2/);
    expect(page.url()).not.to.contain('filters');

    // An entry is a view that did not come from the site itself.
    await analytics.collect({ site, path: '/inside', referrer: 'https://example.com/' });
    await expectText(page, '#lists', '/inside');
    await showList(page, 'Entry pages');
    expect(await rows('entryPages')).to.deep.equal(['/pricing2', '/about1']);
    await button(page, '/about').click();
    await expectText(page, '#totals', /Page views1/);
    await accessible(page);
    await button(page, 'Remove the filter Entry pages: /about').click();
    await showList(page, 'Pages');

    // Goals are events; the report shows their rates.
    await button(page, 'Settings').click();
    await page.getByLabel('Goals:').fill('Buy\nNever');
    await button(page, 'Save').click();
    await showList(page, 'Goals');
    await expectText(page, '[aria-labelledby=list-goals] li:first-child', 'Buy50 %1');
    await expectText(page, '[aria-labelledby=list-goals] li:last-child', 'Never0 %0');

    // Pages of an event are where it happened.
    await showList(page, 'Events');
    await button(page, 'Buy').click();
    await expectText(page, '#chart-title', 'Events by day');
    expect(await rows('pages')).to.deep.equal(['/pricing100 %1']);
  });

  it('shows the hours of a day, also on a phone', async () => {
    const site = await visitedSite();
    const page = await openAt(site, { viewport: PHONE, locale: 'en-GB' });
    await page.getByText('Today', { exact: true }).click();
    await page.locator('#chart[aria-valuemax="24"]').waitFor();
    await expectText(page, '#chart-title', 'Page views by hour');
    await expectText(page, '#readout', /^Highest at \d\d:00.*: 3 page views$/);
    const american = await openAt(site, { locale: 'en-US' });
    await american.getByText('Today', { exact: true }).click();
    await expectText(american, '#readout', /^Highest at \d{1,2}:00 [AP]M.*: 3 page views$/);
    await picture(american, 'hours-american');
    await noScroll(page);
    await accessible(page);
    await picture(page, 'hours-phone');
    await button(page, /^Visitors/).click();
    await expectText(page, '#chart-title', 'Visitors by day');
    await button(page, 'Earlier period').click();
    await expectText(page, '#nothing', 'No hits in this period');
    expect(page.url()).to.match(/start=.*&end=/);
    await button(page, 'Later period').click();
    await page.waitForURL('**/*days=1');
  });

  it('shows all sites at a glance', async () => {
    const [one, other] = [await visitedSite(), await analytics.site()];
    const page = await open('/?days=7');
    await signInByToken(page);
    const card = (id: string) => page.locator('.site-card', { hasText: id });
    await card(one)
      .filter({ hasText: /Page views3Visitors2/ })
      .waitFor();
    await card(other)
      .filter({ hasText: /Page views0/ })
      .waitFor();
    await accessible(page);
    await noScroll(page);
    await picture(page, 'overview');
    await card(one).getByRole('link').click();
    await expectText(page, '#name', one);
    expect(page.url()).to.contain(`site=${one}&days=7`);
    await page.goBack();
    await card(other).waitFor();
  });

  it('keeps what was typed about a site until it is saved or cancelled', async () => {
    const site = await analytics.site();
    const page = await openAt(site);
    await button(page, 'New site').click();
    await page.getByLabel('Name').fill('Half of a na');
    await page.getByLabel('Domains').fill('half.example');
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    await button(page, 'New site').click();
    expect(await page.getByLabel('Name').inputValue()).to.equal('Half of a na');
    expect(await page.getByLabel('Domains').inputValue()).to.equal('half.example');
    await button(page, 'Cancel').click();
    await button(page, 'New site').click();
    expect(await page.getByLabel('Name').inputValue()).to.equal('');
  });
});
