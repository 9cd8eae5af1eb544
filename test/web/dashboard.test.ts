/** The dashboard in a real browser: signing in, creating, measuring, exporting and deleting a site. */
import { expect } from 'chai';
import { asAdmin } from '../support/analytics-node.js';
import { accessible } from '../support/browser.js';
import { ask } from '../support/http-spec.js';
import {
  ADA,
  button,
  choose,
  draws,
  expectText,
  fitsNarrow,
  noScroll,
  picture,
  saved,
  showList,
  signInByToken,
  useDashboard,
} from './dashboard-page.js';

const PHONE = { width: 390, height: 844 };
const EVIL = '<img src=x onerror="document.title=1">';
const FORMULA = '=HYPERLINK("http://evil.example","x"), y';
const DAY_MS = 86_400_000;

describe('dashboard', function () {
  this.timeout(120_000);
  const { analytics, base, open, openAt, letterTo } = useDashboard();

  it('signs in by the mailed link once, creates a site, and detects a working tag', async () => {
    const { headers } = await fetch(base());
    expect(headers.get('content-security-policy')).to.match(/script-src 'self'; .*require-trusted-types-for/);
    expect(headers.get('referrer-policy')).to.equal('no-referrer');
    const page = await open('/?days=7');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await accessible(page);
    await page.getByLabel('Email').fill(ADA);
    await button(page, 'Mail me a link').click();
    await expectText(page, '#link-told', 'a sign-in link has been mailed');
    const { link } = await letterTo(ADA);
    expect(link.origin).to.equal(base());
    await page.goto(link.href);
    // Merely opening the link, as some mail servers do, does not use it up.
    await button(page, `Sign in as ${ADA}`).waitFor();
    expect(page.url()).not.to.contain('token');
    await accessible(page);
    await page.goto(link.href);
    await button(page, `Sign in as ${ADA}`).click();
    await expectText(page, '#who', ADA);

    await button(page, 'Create the first site').click();
    await page.getByLabel('Name').fill(`Shop ${EVIL}`);
    await page.getByLabel('Id (cannot').fill('first');
    await page.getByLabel('Domains').fill('example.com\nshop.example');
    await page.getByLabel('Event properties to count').fill('plan');
    await button(page, 'Create site').click();
    await expectText(page, '#name', EVIL);
    await expectText(page, '#check', 'No recent hits');
    await expectText(page, '#nothing', 'No hits in this period');
    await accessible(page);
    await button(page, 'Copy').click();
    await button(page, 'Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).to.equal(
      `<script defer src="${base()}/m.js" data-site="first"></script>`,
    );

    await analytics.collect({ site: 'first', host: 'other.example', path: '/' }, { origin: '' });
    await button(page, 'Close').click();
    await button(page, 'Install').click();
    await expectText(page, '#check[data-state=ignored]', 'other.example is not a domain of the site');
    await analytics.collect({ site: 'first', host: 'example.com', path: '/welcome' });
    await expectText(page, '#check[data-state=works]', 'It works: received a view of example.com/welcome');
    await picture(page, 'installed');

    // A used link does not sign in again.
    const other = await open(link.pathname + link.search);
    await button(other, `Sign in as ${ADA}`).click();
    await expectText(other, '#sign-in-trouble', 'This link was used');
    await choose(page, 'Sign out');
    await page.locator('#sign-in').waitFor();
    await page.reload();
    await page.locator('#sign-in').waitFor();
  });

  it('shows hits live, and counts them in the selected period', async () => {
    const site = await analytics.site();
    await analytics.collect({ site, path: '/before' });
    const page = await openAt(site);
    await expectText(page, '#recent', '/before');
    await expectText(page, '#live-count', '1 page view in the last 5 minutes');
    await button(page, '/before').focus();
    await analytics.collect([
      { site, path: '/', referrer: 'https://news.example/x' },
      { site, path: '/', event: 'Sign up' },
    ]);
    await expectText(page, '#recent', 'Sign up on /');
    await expectText(page, '#live-count', '2 page views and 1 event');
    await expectText(page, '#totals', /Page views2.*Visitors1.*Events1/);
    await expectText(page, '#lists', 'news.example');
    // The page is second now, and keeps the focus.
    await expectText(page, '#lists section:first-child li:nth-child(2)', '/before');
    expect(await page.evaluate('document.activeElement.textContent')).to.equal('/before');

    const today = new Date().toISOString().slice(0, 10);
    const from = (days: number) => new Date(Date.now() - (days - 1) * DAY_MS).toISOString().slice(0, 10);
    await page.getByText('As a table').click();
    for (const [label, days] of [
      ['7 days', 7],
      ['365 days', 365],
    ] as const) {
      await page.getByText(label, { exact: true }).click();
      await page.waitForURL(`**/*days=${days}`);
      if (days === 365) await page.locator('#days .segments').getByText('Days', { exact: true }).click();
      await page.locator(`#chart[aria-valuemax="${days}"]`).waitFor();
      expect(await page.locator('#table tbody tr').count()).to.equal(days);
    }
    await page.getByText('Other', { exact: true }).click();
    await page.getByLabel('From').fill(from(3));
    // A selection in progress survives the reload of the report.
    await analytics.collect({ site, path: '/' });
    await expectText(page, '#totals', /Page views3/);
    await page.getByLabel('To', { exact: true }).fill(from(2));
    await button(page, 'Show').click();
    await expectText(page, '#nothing', 'No hits in this period');
    await page.getByLabel('To', { exact: true }).fill(today);
    await button(page, 'Show').click();
    await page.locator('#chart[aria-valuemax="3"]').waitFor();
    await expectText(page, '#table tbody tr:last-child', /311$/);
    await page.reload();
    await page.locator('#chart[aria-valuemax="3"]').waitFor();
  });

  it('makes chart values available by keyboard, and draws the chart in dark mode', async () => {
    const site = await analytics.site();
    await analytics.collect([
      { site, path: '/a' },
      { site, path: '/a' },
      { site, path: '/b' },
    ]);
    const page = await openAt(site);
    const chart = page.getByRole('slider', { name: 'Page views by day' });
    const valueText = () => chart.getAttribute('aria-valuetext');
    await button(page, 'Days as CSV').focus();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.id')).to.equal('chart');
    expect(await valueText()).to.match(/: 3 page views$/);
    await expectText(page, '#readout', /: 3 page views$/);
    await page.keyboard.press('ArrowLeft');
    await expectText(page, '#readout', /: 0 page views$/);
    await page.keyboard.press('Home');
    expect(await chart.getAttribute('aria-valuenow')).to.equal('1');
    await page.keyboard.press('End');
    expect(await chart.getAttribute('aria-valuenow')).to.equal('30');

    // Selects a line for one page, and another metric, without a mouse.
    await button(page, 'Show /a in the chart').focus();
    await page.keyboard.press('Enter');
    expect(await button(page, 'Show /a in the chart').getAttribute('aria-pressed')).to.equal('true');
    await button(page, /^Visitors/).focus();
    await page.keyboard.press('Enter');
    const both = page.getByRole('slider', { name: 'Visitors by day, with /a' });
    expect(await both.getAttribute('aria-valuetext')).to.match(/: 1 visitor, \/a 2$/);
    await button(page, 'Hide /a').click();

    await draws(page, [0x25, 0x57, 0xd6]);
    const observer = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(await observer()).to.equal('rgb(245, 246, 248)');
    await accessible(page);
    await page.emulateMedia({ colorScheme: 'dark' });
    await draws(page, [0x8a, 0xb0, 0xff]);
    expect(await observer()).to.equal('rgb(18, 21, 27)');
    await accessible(page);
    await picture(page, 'dark');
  });

  it("shows visitors' input as text, also on a phone, and exports it without formulas", async () => {
    const site = await analytics.site({ name: EVIL, allowedEventProperties: ['plan'] });
    const long = `/${'long-name-'.repeat(25)}`;
    await analytics.collect([
      { site, path: `/${EVIL}` },
      { site, path: long },
      { site, path: '/', campaign: { utm_source: '@SUM(A1)', utm_medium: EVIL } },
      { site, path: '/', event: FORMULA, properties: { plan: '-1+1;=2' } },
      { site, path: '/', event: EVIL, properties: { plan: 7 } },
    ]);
    const page = await openAt(site, { viewport: PHONE });
    await expectText(page, '#recent', EVIL);
    for (const [list, title] of [
      ['pages', 'Pages'],
      ['campaigns', 'Campaigns'],
      ['events', 'Events'],
      ['properties', 'Properties of events'],
    ] as const) {
      await showList(page, title);
      await expectText(page, `[aria-labelledby=list-${list}]:is(section)`, EVIL.slice(0, list === 'pages' ? 9 : 99));
    }
    expect(await page.locator('img').count()).to.equal(0);
    expect(await page.title()).to.equal(`${EVIL} · Analytics`);
    await noScroll(page);
    await fitsNarrow(page, '.bar nav button');
    await accessible(page);
    await picture(page, 'phone');
    await button(page, 'Settings').click();
    await noScroll(page);
    await accessible(page);
    await button(page, 'Cancel').click();

    const today = new Date().toISOString().slice(0, 10);
    const days = await saved(page, 'Days as CSV');
    expect(days.file).to.match(new RegExp(`^${site}-days-.*-${today}\\.csv$`));
    expect(days.text).to.match(/^\ufeffdate,pageviews,uniques,events\r\n/);
    expect(days.text.trim().split('\r\n')).to.have.length(31);
    expect(days.text).to.contain(`\r\n${today},3,1,2\r\n`);
    await showList(page, 'Events');
    const { text: events } = await saved(page, 'Events as CSV');
    const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
    expect(events.split('\r\n')).to.include.members([
      '\ufeffevent,count',
      `${quoted(`'${FORMULA}`)},1`,
      `${quoted(EVIL)},1`,
    ]);
    await showList(page, 'Campaigns');
    const { text: campaigns } = await saved(page, 'Campaigns as CSV');
    expect(campaigns).to.contain(`\r\n"'@SUM(A1)",${quoted(EVIL)},,1\r\n`);
    await showList(page, 'Properties of events');
    const { text: properties } = await saved(page, 'Properties of events as CSV');
    expect(properties).to.contain(`${quoted(`'${FORMULA}`)},plan,"'-1+1;'=2",1\r\n`);
  });

  it('explains failures, and continues after them', async () => {
    const site = await analytics.site();
    const page = await open(`/?site=${site}`);
    await page.route('**/api/report?*', (route) =>
      route.fulfill({ status: 503, headers: { 'Retry-After': '3' }, json: { error: 'Not now' } }),
    );
    await signInByToken(page);
    await expectText(page, '#trouble', 'The service cannot reach its storage. Try again in 3 s.');
    await page.unroute('**/api/report?*');
    await button(page, 'Try again').click();
    await expectText(page, '#nothing', 'No hits in this period');
    expect(await page.locator('#trouble').isHidden()).to.equal(true);

    await button(page, 'New site').click();
    await page.getByLabel('Name').fill('Again');
    await page.getByLabel('Id (cannot').fill(site);
    await button(page, 'Create site').click();
    await expectText(page, '#site-form .form-error', /exists|taken|already/i);
    await button(page, 'Cancel').click();
  });

  it('changes settings, cleans up, and deletes a site after typing its id', async () => {
    const site = await analytics.site({ ingestToken: 'a-token' });
    await analytics.collect({ site, path: '/' }, { 'x-analytics-token': 'a-token' });
    const page = await openAt(site);
    await button(page, 'Settings').click();
    await page.getByLabel('Name').fill('Another name');
    await page.getByText('Hits sent by servers').click();
    await page.getByLabel('Remove the token').check();
    await button(page, 'Save').click();
    await expectText(page, '#name', 'Another name');
    const { body } = await ask(base(), 'GET', '/api/sites', asAdmin({ headers: {} }));
    const changed = body.sites.find(({ id }: { id: string }) => id === site);
    expect(changed).to.deep.include({
      name: 'Another name',
      hasIngestToken: false,
      domains: ['example.com'],
    });

    await choose(page, 'Privacy');
    await expectText(page, '#privacy', '395 days');
    await button(page, 'Clean up now').click();
    await expectText(page, '#cleaned', 'Deleted: ');
    await page.keyboard.press('Escape');

    await button(page, 'Settings').click();
    await button(page, 'Delete…').click();
    const confirm = button(page, 'Delete permanently');
    for (const typed of ['', site.slice(1)]) {
      await page.getByLabel(`Type ${site}`).fill(typed);
      expect(await confirm.isDisabled()).to.equal(true);
    }
    await page.getByLabel(`Type ${site}`).fill(site);
    await accessible(page);
    // The deleted site cannot be selected, however long reloading the list takes.
    let answer = () => {};
    const released = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route('**/api/sites', (route) => released.then(() => route.continue()));
    await confirm.click();
    await expectText(page, '#note', `Site ${site} and `);
    expect(await page.locator(`#site option[value="${site}"]`).count()).to.equal(0);
    answer();
    await analytics.given('GET', `/api/report?site=${site}`, asAdmin()).then(
      () => expect.fail('it is there'),
      () => undefined,
    );
  });
});
