/** Account and administration on the chat's page in a real browser: an admin and a member. */
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { accessible } from '../support/browser.js';
import { inMode, useChat } from '../support/chat-scenario.js';
import { ask } from '../support/http-spec.js';
import { button, expectText, inWorkspace, noScroll, openSection, PHONE, picture, useChatPages } from './chat-page.js';

const ADMIN = { email: 'admin@example.org', password: 'the first password' };
const SECTIONS = [
  'account/profile',
  'account/password',
  'account/sessions',
  'account/notifications',
  'admin/members',
  'admin/webhooks',
  'admin/server',
  'admin/audit',
  'admin/export',
];

describe('settings of the chat page', function () {
  this.timeout(120_000);
  const chat = useChat(1, { ...inMode('password'), '--chat-initial-user-password': ADMIN.password });
  const { open } = useChatPages();

  async function signIn({ email, password }: typeof ADMIN, options = {}): Promise<Page> {
    const page = await open(chat.base, options);
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await button(page, 'Sign in').click();
    await inWorkspace(page);
    return page;
  }

  async function register(name: string) {
    const credentials = { email: `${name}@example.org`, password: `the password of ${name}` };
    const { body } = await ask(chat.base, 'POST', '/auth/register', { body: credentials });
    return { ...credentials, token: body.accessToken as string };
  }

  const asAdmin = (method: string, path: string, body?: object) =>
    ask(chat.base, method, path, { token: chat.admin.token, body });

  it('changes the name, ends another session, and leaves the server', async () => {
    const ada = await register('ada');
    const page = await signIn(ada, { viewport: PHONE });
    await openSection(page, 'account/profile');
    expect(await page.getByRole('link', { name: 'Members' }).count()).to.equal(0);
    await page.getByLabel('Display name').fill('admin');
    await button(page, 'Save').click();
    await expectText(page, /already taken/);
    await page.getByLabel('Display name').fill('Ada Lovelace');
    await button(page, 'Save').click();
    await expectText(page, 'Saved');

    await openSection(page, 'account/sessions');
    await expectText(page, 'Chrome on Linux');
    await picture(page, 'settings-sessions');
    await button(page, /^End the session of/).click();
    await expectText(page, '1 session ended');
    expect((await ask(chat.base, 'GET', '/auth/me', { token: ada.token })).status).to.equal(401);

    await page.keyboard.press('Escape');
    await page.locator('.settings').waitFor({ state: 'detached' });
    await openSection(page, 'account/profile');
    await button(page, 'Leave this server').click();
    await picture(page, 'settings-leave');
    await accessible(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Leave this server' }).click();
    await expectText(page, 'You have left this server.');
    expect(await page.evaluate("localStorage.getItem('chat.session')")).to.equal(null);
  });

  it('adds a member with a made-up password, changes role and password, and removes them', async () => {
    const admin = await signIn(ADMIN);
    await openSection(admin, 'admin/members');
    await button(admin, 'Add a member').click();
    await admin.getByLabel('Email').fill('grace@example.org');
    await button(admin, 'Make one up').click();
    const password = await admin.getByLabel('First password').inputValue();
    expect(password).to.match(/^(?:[a-z2-9]{4}-){3}[a-z2-9]{4}$/);
    await picture(admin, 'settings-add-member');
    await accessible(admin);
    await button(admin, 'Add').click();
    await expectText(admin, 'grace@example.org is added');
    const act = async (item: string) => {
      await button(admin, 'Actions for grace').click();
      await admin.getByRole('menuitem', { name: item }).click();
    };

    const grace = await signIn({ email: 'grace@example.org', password });
    await act('Make admin');
    await expectText(admin, 'grace is an admin now');
    // Their page changes without a reload.
    await openSection(grace, 'admin/members');
    await act('Take the admin role away');
    await expectText(admin, 'grace is a member now');

    await act('Set a password');
    await admin.getByLabel('First password').fill('grace chooses well');
    await button(admin, 'Set a password').click();
    await expectText(admin, 'The password of grace is set');
    await expectText(grace, 'Your session has ended.');

    await act('Remove from the server');
    await admin.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await expectText(admin, 'grace is removed');
    await button(admin, 'Actions for grace').waitFor({ state: 'detached' });
    await button(grace, 'Sign in').waitFor();

    // The last admin stays one.
    await button(admin, 'Actions for Admin').click();
    await admin.getByRole('menuitem', { name: 'Take the admin role away' }).click();
    await button(admin, 'Take the admin role away').click();
    await expectText(admin, /The last admin cannot/);
  });

  it('shows the token of a new webhook once, with an example that works', async () => {
    const page = await signIn(ADMIN, { colorScheme: 'dark' });
    await openSection(page, 'admin/webhooks');
    await expectText(page, 'No webhooks yet');
    await button(page, 'Create a webhook').click();
    await page.getByLabel('Name', { exact: true }).fill('Build server');
    await page.getByLabel('Channel', { exact: true }).selectOption({ label: 'General' });
    await button(page, 'Create').click();
    await expectText(page, 'Build server is ready');
    await picture(page, 'settings-webhook-token');
    await accessible(page);
    const [token, example] = await page.locator('.copyable pre').allTextContents();
    expect(token).to.match(/^[0-9a-f]{64}$/);
    const [, address = ''] = /'(http[^']+)'/.exec(example!) ?? [];
    const [, body = ''] = /-d '(.+)'/.exec(example!) ?? [];
    const { status } = await ask(chat.base, 'POST', new URL(address).pathname, {
      token: token!,
      body: JSON.parse(body),
    });
    expect(status).to.equal(200);
    expect(new URL(address).origin).to.equal(chat.base);
    await button(page, 'Done').click();
    await expectText(page, /# General · created by/);
    expect(await page.content()).not.to.contain(token);
    await button(page, 'Remove Build server').click();
    await button(page, 'Remove').click();
    await expectText(page, 'No webhooks yet');
  });

  it('renames the server, pages and filters the audit log, and exports', async () => {
    const page = await signIn(ADMIN);
    await openSection(page, 'admin/server');
    await page.getByLabel('Name', { exact: true }).fill('Analytical Engines');
    await button(page, 'Save').click();
    await expectText(page, 'Saved');
    for (let n = 0; n < 105; n++) await asAdmin('PUT', '/server/settings', { name: `Name ${n}` });

    await openSection(page, 'admin/audit');
    const rows = page.locator('.audit tbody tr');
    await expectText(page, 'Name 104');
    expect(await rows.count()).to.equal(100);
    await button(page, 'Show more').click();
    await expectText(page, 'Analytical Engines');
    await page.getByLabel('Action').selectOption({ label: 'Created a webhook' });
    await expectText(page, 'Build server');
    await page.locator('.audit tbody tr:nth-child(2)').waitFor({ state: 'detached' });

    await openSection(page, 'admin/export');
    // Tests cannot choose a file in the browser's dialog.
    await page.evaluate('globalThis.showSaveFilePicker = undefined');
    const saving = page.waitForEvent('download');
    await button(page, 'Export everything').click();
    const download = await saving;
    expect(download.suggestedFilename()).to.match(/^chat-export-\d{4}-\d\d-\d\d\.json$/);
    const exported = JSON.parse(await readFile(await download.path(), 'utf8'));
    expect(exported.serverSettings.name).to.equal('Name 104');
    await expectText(page, /^Saved, /);
  });

  it('is accessible in both schemes, and fits a narrow window', async () => {
    for (const options of [{ viewport: PHONE, colorScheme: 'dark' }, { viewport: { width: 1280, height: 800 } }]) {
      const page = await signIn(ADMIN, options);
      for (const section of SECTIONS) {
        await openSection(page, section);
        await noScroll(page);
        await accessible(page);
        await picture(page, `settings-${section.replace('/', '-')}-${options.viewport.width}`);
      }
      await page.setViewportSize({ width: 320, height: 640 });
      await openSection(page, 'admin/members');
      await noScroll(page);
    }
  });
});
