/** The live tail of the log explorer in a real browser: arrivals, pause, a lost connection, and failing services. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { button } from './dashboard-page.js';
import { addressOf, looksRight, matching, rows, shownMessages, useExplorer } from './logs-page.js';

describe('live tail of the log explorer', function () {
  this.timeout(120_000);
  const explorer = useExplorer();
  const { open, send } = explorer;

  const log = (...messages: readonly string[]) =>
    send(
      'shop',
      messages.map((message) => ({ level: 'info', event: 'said', message })),
    );
  const isLive = (page: Page) => page.getByText('Live: new records appear as they come').waitFor({ state: 'attached' });

  it('explains how to send the first record, and shows it when it arrives', async () => {
    const page = await open('#/?range=all');
    await page.getByText('No records yet').waitFor();
    await looksRight(page, 'empty');
    await button(page, 'Live').click();
    await isLive(page);
    await log('The first');
    await rows(page, 'The first').waitFor();
    expect(addressOf(page).get('live')).to.equal('1');
  });

  it('shows arrivals that match, holds them while paused, and ends', async () => {
    const page = await open('#/?q=-producer:mailer&live=1');
    await isLive(page);
    await send('mailer', [{ message: 'Not for this query' }]);
    await log('One', 'Two');
    await rows(page, 'Two').waitFor();
    await page.keyboard.press('p');
    await log('Three');
    await page.getByRole('button', { name: '1 new record' }).waitFor();
    expect(await rows(page, 'Three').count()).to.equal(0);
    await looksRight(page, 'live');
    await page.getByRole('button', { name: '1 new record' }).click();
    await rows(page, 'Three').waitFor();
    expect(await rows(page, 'Not for this').count()).to.equal(0);
    await page.keyboard.press('l');
    await eventually(async () => addressOf(page).get('live') === null);
    await matching(page, 4);
  });

  it('holds arrivals while the reader is down in the list', async () => {
    await log(...Array.from({ length: 300 }, (_, n) => `Record ${n}`));
    const page = await open('#/?live=1');
    await isLive(page);
    await rows(page).first().waitFor();
    await page.locator('.virtual-list').evaluate((list: { scrollTop: number }) => {
      list.scrollTop = 2000;
    });
    await eventually(async () => !(await shownMessages(page)).some((text) => text.includes('Record 299')));
    const before = await shownMessages(page);
    await log('Late');
    await page.getByRole('button', { name: '1 new record' }).waitFor();
    expect(await shownMessages(page)).to.deep.equal(before);
    await page.getByRole('button', { name: '1 new record' }).click();
    await rows(page, 'Late').waitFor();
  });

  it('loads long results page by page', async () => {
    const page = await open('#/?q=Record&order=asc');
    await matching(page, 300);
    await rows(page).first().click();
    await eventually(async () => {
      await page.keyboard.press('End');
      return (await shownMessages(page)).some((text) => text.includes('Record 299'));
    });
  });

  it('comes back after a lost connection with what was missed', async () => {
    const page = await open('#/?live=1');
    await isLive(page);
    await page.context().setOffline(true);
    await page.getByText('You are offline').waitFor();
    await log('While away');
    await page.context().setOffline(false);
    await rows(page, 'While away').waitFor();
  });

  it('shows the error of a service that fails, keeps the query, and tries again', async () => {
    const page = await open();
    await rows(page).first().waitFor();
    const error = 'The query took too long; narrow its time range or its filters';
    await page.route('**/api/logs?*', (route) => route.fulfill({ status: 503, json: { error } }));
    await page.getByRole('combobox', { name: 'Query' }).fill('slow words');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: error }).waitFor();
    await looksRight(page, 'failed');
    await page.unroute('**/api/logs?*');
    await button(page, 'Try again').click();
    await page.getByText('No records match').waitFor();
  });

  it('refreshes by itself', async () => {
    const page = await open('#/?q=Fresh&range=1h');
    await page.getByText('No records match').waitFor();
    await page.clock.install();
    await button(page, /^Automatic refresh/).click();
    await page.getByRole('menuitemcheckbox', { name: 'Every 5 s' }).click();
    await eventually(async () => addressOf(page).get('refresh') === '5');
    await log('Fresh');
    await page.clock.fastForward(6000);
    await rows(page, 'Fresh').waitFor();
  });
});
