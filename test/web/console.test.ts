/** The operations console in a real browser, on a server process with a chat. */
import { eventually } from '@annals/engines/testing/condition.js';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { accessible, complaintsOf, hasBrowser, startBrowser } from '../support/browser.js';
import { type Server, startServer } from '../support/server-process.js';
import { button, fitsNarrow, noScroll } from './dashboard-page.js';

const TOKEN = 'token-of-the-operations';
const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
const MESSAGE = 'A sentence for the eyes of the channel';

describe('operations console', function () {
  this.timeout(120_000);
  const directory = temporaryDirectory();
  let server: Server;
  let browser: Browser;
  let pages: { readonly page: Page; readonly complaints: readonly string[] }[] = [];
  before(async function () {
    if (!hasBrowser) this.skip();
    browser = await startBrowser();
    server = await startServer(directory.path, ['chat', 'rooms'], { ANNALS_OPERATIONS_TOKEN: TOKEN });
    await postMessage(server.urls.chat ?? '');
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
    directory.remove();
  });
  afterEach(async () => {
    const ended = pages;
    pages = [];
    for (const { page } of ended) await page.context().close();
    expect(ended.flatMap(({ complaints }) => complaints)).to.deep.equal([]);
  });

  async function open(hash = '', options: BrowserContextOptions = {}) {
    const context = await browser.newContext({ viewport: DESKTOP, locale: 'en-GB', ...options });
    const page = await context.newPage();
    const base = server.urls.operations ?? '';
    pages.push({ page, complaints: complaintsOf(page, base) });
    await page.goto(`${base}/${hash}`);
    return page;
  }

  it('asks callers from elsewhere for the token, and keeps it for this tab', async () => {
    const page = await open('', { extraHTTPHeaders: { 'x-forwarded-for': '203.0.113.9' } });
    await page.getByLabel('Operations token').fill('nonsense');
    await button(page, 'Sign in').click();
    await page.getByText('The token is wrong.').waitFor();
    await looksRight(page, 'sign-in');
    await page.getByLabel('Operations token').fill(TOKEN);
    await button(page, 'Sign in').click();
    await page.getByText('Ready', { exact: true }).waitFor();
    await page.reload();
    await page.getByText('Ready', { exact: true }).waitFor();
    expect(await page.evaluate('localStorage.length')).to.equal(0);
    await button(page, 'Forget the token').click();
    await page.getByLabel('Operations token').waitFor();
  });

  it('shows how the node is: services, stores, activity, transparency log and errors', async () => {
    const page = await open();
    await page.getByText('Ready', { exact: true }).waitFor();
    for (const name of ['chat', 'rooms']) await page.getByRole('listitem').filter({ hasText: name }).waitFor();
    await page
      .getByRole('listitem')
      .filter({ hasText: /^[\da-f]{8}this node[1-9]\d* leases$/ })
      .waitFor();
    await page.getByRole('row', { name: /^eventstore .*MB .*B$/ }).waitFor();
    await page.getByRole('row', { name: /^mongo .*MB .*B$/ }).waitFor();
    await page.getByText(/free on the disk/).waitFor();
    await page.getByText(/entries signed|No checkpoint is signed yet/).waitFor();
    await page.getByRole('heading', { name: 'Recent warnings and errors' }).waitFor();
    await page.getByRole('img', { name: /^Requests per second: last \S+, highest [\d.]+$/ }).hover();
    await page.getByText(/^\d\d:\d\d:\d\d: \S+$/).waitFor();
    await page.locator('summary').click();
    await page.getByText('writing to the event store').waitFor();
    await looksRight(page, 'overview');
    await fitsNarrow(page, '.page-head nav a');
  });

  it('shows read models live, checks one, and rebuilds one after asking', async () => {
    const page = await open('#/models');
    const row = page.getByRole('row', { name: /^chat\.conversations/ });
    await row.getByText('live').waitFor();
    expect(await row.getByRole('cell').nth(1).textContent()).to.equal('0');
    await row.getByRole('button', { name: 'Check' }).click();
    await row.getByText(/^Equals its rebuild from (?:one|\d+) events?$/).waitFor();
    const collection = await row.getByRole('rowheader').getAttribute('title');
    await row.getByRole('button', { name: 'Rebuild…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Rebuild chat.conversations?' });
    await accessible(page);
    await dialog.getByRole('button', { name: 'Rebuild' }).click();
    await row.getByText(/^Rebuilt from (?:one|\d+) events?$/).waitFor();
    await eventually(async () => (await row.getByRole('rowheader').getAttribute('title')) !== collection);
    await looksRight(page, 'models');
    await page.getByLabel('Filter by name').fill('rooms.');
    await row.waitFor({ state: 'detached' });
  });

  it('browses events as they are stored, by filters of the address, with causes and effects', async () => {
    const page = await open('#/events');
    await page.getByRole('list', { name: 'Events, the newest first' }).waitFor();
    await page.getByLabel('Event type').fill('MessagePosted');
    await button(page, 'Show').click();
    const posted = page.getByRole('button', { name: /MessagePosted/ });
    await eventually(async () => (await page.locator('.event-row').count()) === 1);
    expect(new URL(page.url()).hash).to.equal('#/events?type=MessagePosted');
    await posted.click();
    const json = page.getByRole('region', { name: 'Event as JSON' });
    await json.getByText('"chat.MessagePosted.v').waitFor();
    expect(await page.locator('main').textContent()).not.to.include(MESSAGE);
    await button(page, 'Causes and effects').click();
    const tree = page.getByRole('region', { name: 'Causes and effects' });
    await tree.getByRole('button', { name: /MessagePosted/ }).waitFor();
    await looksRight(page, 'events');
    await page.getByRole('link', { name: 'Stream' }).click();
    await eventually(() => /stream=chat\.message-/.test(page.url()));
    await posted.waitFor();
    await page.getByLabel('Stream').fill('chat.message-nonsense');
    await button(page, 'Show').click();
    await page.getByText('There is no stream of this name').waitFor();
  });

  it('shows which node holds which lease', async () => {
    const page = await open('#/leases');
    await page
      .getByRole('row', { name: /^projector:\S+ [\da-f]{8}$/ })
      .first()
      .waitFor();
    await looksRight(page, 'leases');
  });
});

async function postMessage(base: string) {
  const headers = { 'content-type': 'application/json' };
  const ask = async (path: string, body: object, more = {}) => {
    const answer = await fetch(base + path, {
      method: 'POST',
      headers: { ...headers, ...more },
      body: JSON.stringify(body),
    });
    expect(answer.ok, path).to.equal(true);
    return answer.json() as Promise<{ [name: string]: string }>;
  };
  const { token } = await ask('/auth/dev-login', { email: 'admin@localhost' });
  const authorization = { authorization: `Bearer ${token}` };
  const channels = await fetch(`${base}/channels`, { headers: authorization });
  const { channels: all } = (await channels.json()) as { channels: { id: string }[] };
  await ask(`/channels/${all[0]?.id}/messages`, { content: MESSAGE }, authorization);
}

/** For everybody, in both schemes, wide and narrow; SCREENSHOTS is a folder for pictures. */
async function looksRight(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  for (const colorScheme of ['light', 'dark'] as const)
    for (const [size, viewport] of [
      ['phone', PHONE],
      ['desktop', DESKTOP],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(viewport);
      await accessible(page);
      await noScroll(page);
      if (folder)
        await page.screenshot({ path: `${folder}/console-${name}-${colorScheme}-${size}.png`, fullPage: true });
    }
}
