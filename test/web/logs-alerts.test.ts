/** Alerts in a real browser: webhook with a test, rules, history, and the way to the records. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { answer, type Receiver, startReceiver } from '../support/webhook-receiver.js';
import { button } from './dashboard-page.js';
import { looksRight, matching, useExplorer } from './logs-page.js';

describe('alerts of the log explorer', function () {
  this.timeout(120_000);
  const explorer = useExplorer();
  let receiver: Receiver;
  before(async () => {
    receiver = await startReceiver();
  });
  after(() => receiver?.close());

  const toast = (page: Page, text: string | RegExp) => page.locator('.toast').filter({ hasText: text }).waitFor();

  it('sets up a webhook, tests it, and shows the outcome of the test', async () => {
    const page = await explorer.open();
    await page.getByRole('link', { name: 'Alerts' }).click();
    await page.getByText('No webhook. Add one').waitFor();
    await button(page, 'Edit').first().click();
    const dialog = page.getByRole('dialog', { name: 'Webhook' });
    await dialog.getByLabel('Webhook URL').fill('http://169.254.169.254/latest');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').waitFor();
    expect(await dialog.getByLabel('Webhook URL').inputValue()).to.equal('http://169.254.169.254/latest');
    await looksRight(page, 'alerts-refused');
    await dialog.getByLabel('Webhook URL').fill(receiver.url);
    await dialog.getByText('Timing and retries').click();
    await dialog.getByLabel('Evaluate every (seconds)').fill('1');
    await dialog.getByLabel('Retries after the first attempt').fill('0');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Alerting is on').first().waitFor();
    await button(page, 'Send a test').click();
    await toast(page, 'accepted the test with status 204');
    receiver.respond = answer(500);
    await button(page, 'Send a test').click();
    await toast(page, /could not be delivered/);
    receiver.respond = answer(204);
  });

  it('creates, edits and deletes rules', async () => {
    const page = await explorer.open('#/alerts');
    await button(page, 'Create rule').click();
    await page.getByLabel('Minutes without a record').fill('0');
    await button(page, 'Save').click();
    expect(await page.getByRole('dialog', { name: 'No records' }).count()).to.equal(1);
    await page.getByLabel('Minutes without a record').fill('45');
    await button(page, 'Save').click();
    // The history may show the same text, followed by when the last record came.
    await page.locator('p.quiet').getByText('No record at all for 45 minutes', { exact: true }).waitFor();
    await button(page, 'Delete').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('This rule is off').waitFor();
    await button(page, 'Edit').nth(1).click();
    await page.getByLabel('Errors', { exact: true }).fill('2');
    await button(page, 'Save').click();
    await page.getByText('At least 2 records of level ERROR or FATAL within 5 minutes').waitFor();
  });

  it('lists alerts that were raised, with their records, and turns off', async () => {
    await explorer.send(
      'shop',
      ['a', 'b', 'c'].map((message) => ({ level: 'error', message: `Failed ${message}` })),
    );
    await explorer.send('shop', [{ level: 'info', message: 'Fine' }]);
    const page = await explorer.open('#/alerts');
    await page.clock.install();
    const shown = page.getByText('3 errors within 5 minutes; the limit is 2');
    while ((await shown.count()) === 0) {
      await page.clock.fastForward(16_000);
      await page.waitForResponse('**/api/alerts/history?*');
    }
    await shown.waitFor();
    await looksRight(page, 'alerts');
    await page.getByRole('link', { name: 'Show records' }).click();
    await matching(page, 3);
    await page.goBack();
    await button(page, 'Turn off').click();
    await page.getByText('Alerting is off').first().waitFor();
  });
});
