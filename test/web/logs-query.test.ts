/** The query bar, the time range and the keyboard of the log explorer in a real browser. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { accessible } from '../support/browser.js';
import { button } from './dashboard-page.js';
import { addressOf, HOUR, looksRight, matching, queryBar, seed, useExplorer } from './logs-page.js';

describe('query bar and time range of the log explorer', function () {
  this.timeout(120_000);
  const explorer = useExplorer();
  const { open } = explorer;
  let start: number;
  before(async () => {
    start = await seed(explorer);
  });

  it('completes names, fields and values, and says what is wrong', async () => {
    const page = await open();
    await matching(page, 6);
    await page.keyboard.press('/');
    const option = (name: string) => page.getByRole('option').filter({ hasText: name });
    await page.keyboard.type('ev');
    await option('event').waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await option('payment.failed').waitFor();
    await page.keyboard.type('order');
    await eventually(async () => (await page.getByRole('option').count()) === 1);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await queryBar(page).inputValue()).to.equal('event:order.placed ');
    await page.keyboard.type('order.i');
    await option('order.id').click();
    await option('B-2').click();
    await page.keyboard.press('Enter');
    await matching(page, 1);
    await queryBar(page).fill('level:err,');
    await option('WARN').waitFor();
    await looksRight(page, 'completion');
    await queryBar(page).fill('event:');
    await page.keyboard.press('Enter');
    await page.getByText('Give a value after event:').waitFor();
    await queryBar(page).fill('-declined');
    await page.keyboard.press('Enter');
    await page.getByText('A word cannot be excluded').waitFor();
    await queryBar(page).fill('nothing-has-this-word');
    await page.keyboard.press('Enter');
    await page.getByText('No records match').waitFor();
    await button(page, 'Search all time').click();
    await page.getByText('No records match').waitFor();
    await page.locator('.state').getByRole('button', { name: 'Clear the query' }).click();
    await matching(page, 6);
    expect(addressOf(page).get('range')).to.equal('all');
  });

  it('offers fields that are written with an equals sign with a colon', async () => {
    const page = await open('#/?range=2h');
    await matching(page, 6);
    await queryBar(page).fill('level=info order.id=A-1');
    await page.keyboard.press('Enter');
    await button(page, 'Search for level:info order.id:A-1').click();
    await matching(page, 1);
    expect(await queryBar(page).inputValue()).to.equal('level:info order.id:A-1');
  });

  it('keeps the records of a query whose refresh fails, but not those of another one', async () => {
    const page = await open('#/?range=2h');
    await matching(page, 6);
    const [rows, charts] = [page.locator('.record-row'), page.getByRole('slider', { name: /Records over time/ })];
    await page.context().setOffline(true);
    await button(page, 'Refresh').click();
    const alert = page.getByText('Not refreshed:');
    await alert.waitFor();
    expect(await rows.count()).to.equal(6);
    expect(await charts.count()).to.equal(1);
    await looksRight(page, 'not-refreshed');
    await queryBar(page).fill('event:payment.failed');
    await page.keyboard.press('Enter');
    await page.locator('.results .state[role=alert]').waitFor();
    expect(await rows.count()).to.equal(0);
    await page.context().setOffline(false);
    await page.locator('.results .state').getByRole('button', { name: 'Try again' }).click();
    await matching(page, 1);
    expect(await alert.count()).to.equal(0);
  });

  it('zooms the time by dragging, by keyboard, and by the picker', async () => {
    const page = await open('#/?range=2h');
    await matching(page, 6);
    const plot = page.getByRole('slider', { name: /Records over time/ });
    const { x, y, width, height } = (await plot.boundingBox())!;
    const place = (instant: number) => x + (width * (instant - (Date.now() - 2 * HOUR))) / (2 * HOUR);
    await page.mouse.move(place(start + 20 * 60_000), y + height / 2);
    await page.mouse.down();
    await page.mouse.move(place(start + 40 * 60_000), y + height / 2, { steps: 4 });
    await page.mouse.up();
    await matching(page, 2);
    await page.goBack();
    await matching(page, 6);
    await plot.focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await page.getByText('No records match').waitFor();
    await button(page, 'Show twice the time').click();
    await button(page, /^Time range/).click();
    await looksRight(page, 'range');
    await button(page, 'Last 6 hours').click();
    await matching(page, 6);
    await button(page, /^Time range/).click();
    const local = (instant: number) => new Date(instant + HOUR).toISOString().slice(0, 19);
    await page.getByLabel('From', { exact: true }).fill(local(start + 90_000));
    await page.getByLabel('To', { exact: true }).fill(local(start + 200_000));
    await page.getByRole('group', { name: 'From and to' }).getByRole('button', { name: 'Apply' }).click();
    await matching(page, 2);
    expect(addressOf(page).get('from')).to.equal(new Date(Math.floor((start + 90_000) / 1000) * 1000).toISOString());
  });

  it('works by keyboard', async () => {
    const page = await open();
    await matching(page, 6);
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Help' }).waitFor();
    await looksRight(page, 'help');
    await page.keyboard.press('Escape');
    for (const key of ['j', 'j', 'ArrowDown', 'k']) await page.keyboard.press(key);
    const focused = page.locator('.record-row:focus');
    await focused.filter({ hasText: 'Order B-2' }).waitFor();
    await page.keyboard.press('Enter');
    expect(await focused.getAttribute('aria-expanded')).to.equal('true');
    await page.keyboard.press('a');
    await page.getByRole('dialog', { name: 'Around this record' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    await page.keyboard.type('?j');
    expect(await queryBar(page).inputValue()).to.equal('?j');
  });

  it('links to a reference that can be read', async () => {
    const page = await open();
    const opening = page.context().waitForEvent('page');
    await page.getByRole('link', { name: 'API reference' }).click();
    const reference = await opening;
    await reference.getByRole('button', { name: /Query records/ }).click();
    await reference.getByText('Execute').waitFor();
    await accessible(reference, ['label', 'select-name', 'nested-interactive']);
  });
});
