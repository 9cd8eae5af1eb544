/** The log explorer in a real browser: sign-in, query, filters, time, and records. */
import { readFile } from 'node:fs/promises';
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { button, fitsNarrow } from './dashboard-page.js';
import {
  addressOf,
  facet,
  looksRight,
  matching,
  PASSWORD,
  queryBar,
  rows,
  seed,
  shownMessages,
  signIn,
  useExplorer,
} from './logs-page.js';

describe('log explorer', function () {
  this.timeout(120_000);
  const explorer = useExplorer();
  const { open, openSignedOut } = explorer;
  before(() => seed(explorer));

  it('signs in with a token or a password, for this tab', async () => {
    const page = await openSignedOut();
    await signIn(page, 'nonsense-token');
    await page.getByText('The token is wrong.').waitFor();
    await signIn(page, 'token-of-the-shop');
    await page.getByText('This token can only send records').waitFor();
    await looksRight(page, 'sign-in');
    await button(page, 'Username and password').click();
    await page.getByLabel('Username').fill('ada');
    await page.getByLabel('Password', { exact: true }).fill('wrong');
    await button(page, 'Sign in').click();
    await page.getByText('The username or the password is wrong.').waitFor();
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await button(page, 'Sign in').click();
    await matching(page, 6);
    await page.reload();
    await matching(page, 6);
    expect(await page.evaluate('localStorage.length')).to.equal(0);
    // Nothing of the records stays in memory.
    await page.evaluate('window.isOldPage = true');
    await button(page, 'Sign out').click();
    await page.waitForFunction('!window.isOldPage');
    await page.getByRole('heading', { name: 'Sign in to the logs' }).waitFor();
  });

  it('asks again when the credentials end, and keeps the query', async () => {
    const page = await open('#/?q=declined');
    await matching(page, 1);
    await page.evaluate("sessionStorage.setItem('annals-logs-authorization', '\"Bearer ended-token\"')");
    await button(page, 'Refresh').click();
    await page.getByText('Your credentials are no longer accepted').waitFor();
    await signIn(page);
    await rows(page, 'Card was declined').waitFor();
    expect(await queryBar(page).inputValue()).to.equal('declined');
  });

  it('shows records newest first, and opens one as JSON with actions on its values', async () => {
    const page = await open();
    await matching(page, 6);
    expect((await shownMessages(page)).map((text) => text.replace(/^\S+ /, ''))).to.deep.equal([
      'Polled 0 messages',
      'Order B-2 placed',
      'Receipt <b>sent</b>',
      'Card was declined for A-1',
      'Retrying A-1',
      'Order A-1 placed',
    ]);
    await looksRight(page, 'records');
    await rows(page, 'declined').click();
    const json = page.getByRole('region', { name: 'Record as JSON' });
    await json.getByText('"Ada Lovelace"').waitFor();
    await json.getByText('at charge (pay.js:8)').waitFor();
    await looksRight(page, 'record');
    await json.getByText('"Ada Lovelace"').hover();
    await button(page, 'Filter by user.name Ada Lovelace').click();
    await matching(page, 1);
    expect(addressOf(page).get('q')).to.equal('user.name:"Ada Lovelace"');
    await page.goBack();
    await matching(page, 6);
    await json.getByText('"payment.failed"').hover();
    await json.getByRole('button', { name: 'Exclude event payment.failed' }).click();
    await matching(page, 5);
    expect(addressOf(page).get('q')).to.equal('-event:payment.failed');
    await button(page, 'Stop excluding event payment.failed').click();
    await matching(page, 6);
    await page.goBack();
    await matching(page, 5);
    await page.goForward();
    await matching(page, 6);
  });

  it('scrolls to what it opens below the edge', async () => {
    const page = await open('', { viewport: { width: 1280, height: 380 } });
    await rows(page, 'Retrying').click();
    await eventually(async () => ((await page.locator('.record-actions').boundingBox())?.y ?? 380) < 350);
  });

  it('shows times in the form of the reader, everywhere the same', async () => {
    for (const [locale, form] of [
      ['en-US', /^\d\d?:\d\d(:\d\d\.\d{3})? [AP]M$/],
      ['en-GB', /^\d\d:\d\d(:\d\d\.\d{3})?$/],
    ] as const) {
      const page = await open('#/?range=6h', { locale });
      await matching(page, 6);
      const times = await page.locator('.record-row time, .axis span').allInnerTexts();
      expect(times.length).to.be.greaterThan(8);
      for (const time of times) expect(time).to.match(form);
      await looksRight(page, `times-${locale}`);
      await fitsNarrow(page, '.toolbar > *');
      await fitsNarrow(page, '.page-head nav a');
    }
  });

  it('shows values of fields in the rows, also for who gets the link', async () => {
    const page = await open();
    await matching(page, 6);
    await page.locator('summary', { hasText: 'order.id' }).click();
    await page.getByLabel('Show in the rows').check();
    await rows(page, 'order.id:B-2').waitFor();
    expect(await rows(page, 'order.id:').count()).to.equal(4);
    const other = await open(new URL(page.url()).hash);
    await rows(other, 'order.id:B-2').waitFor();
    await button(page, 'order.id: hide in the rows').click();
    await rows(page, 'order.id:').first().waitFor({ state: 'detached' });
  });

  it('filters by a click on a counted value, and takes it back', async () => {
    const page = await open();
    await facet(page, 'ERROR').click();
    await matching(page, 1);
    await facet(page, 'WARN').click();
    await matching(page, 2);
    expect(addressOf(page).get('q')).to.equal('level:ERROR,WARN');
    await facet(page, 'ERROR').click();
    await matching(page, 1);
    await facet(page, 'WARN').click();
    await facet(page, 'mailer').click();
    await matching(page, 2);
    await facet(page, 'shop').click();
    await matching(page, 4);
    await page.locator('summary', { hasText: 'order.id' }).click();
    await facet(page, 'A-1').click();
    await matching(page, 3);
    await facet(page, 'payment.retry').hover();
    await button(page, 'Exclude event payment.retry').click();
    await matching(page, 2);
    expect(addressOf(page).get('q')).to.equal('producer:shop order.id:A-1 -event:payment.retry');
  });

  it('shows what happened around a record', async () => {
    const page = await open('#/?q=declined');
    await rows(page, 'declined').click();
    await button(page, 'Show around').click();
    const dialog = page.getByRole('dialog', { name: 'Around this record' });
    await dialog.getByText('Order B-2 placed').waitFor();
    expect(await dialog.getByText('Receipt').count()).to.equal(0);
    await dialog.getByRole('button', { name: 'Same correlation' }).click();
    await dialog.getByText('Receipt').waitFor();
    expect(await dialog.locator('.record-row').count()).to.equal(2);
    await looksRight(page, 'around');
    await dialog.getByRole('button', { name: 'All producers' }).click();
    await eventually(async () => (await dialog.locator('.record-row').count()) === 6);
    await dialog.getByRole('button', { name: 'Explore this time' }).click();
    await matching(page, 3);
  });

  it('shares a query by its address, and saves its records', async () => {
    const page = await open('#/?q=level:info -event:mail.sent&range=6h&order=asc');
    await matching(page, 2);
    expect((await shownMessages(page))[0]).to.contain('Order A-1');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await button(page, 'Copy link').first().click();
    const link = await page.evaluate<string>('navigator.clipboard.readText()');
    const other = await open(new URL(link).hash);
    await matching(other, 2);
    expect(await shownMessages(other)).to.deep.equal(await shownMessages(page));
    const file = await savedAs(page, 'As NDJSON');
    expect(file.file).to.match(/^logs-.*\.ndjson$/);
    const records = file.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(records.map(({ message }) => message)).to.deep.equal(['Order A-1 placed', 'Order B-2 placed']);
    const table = await savedAs(page, 'As CSV');
    expect(table.text).to.contain('timestamp,level,producer,event,message');
  });

  async function savedAs(page: Page, item: string) {
    await button(page, /^Download/).click();
    const saving = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: item }).click();
    const download = await saving;
    return { file: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') };
  }
});
