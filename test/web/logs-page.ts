/** The log explorer in a real browser, on a server process with credentials, and what its readers do there. */
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { accessible, complaintsOf, hasBrowser, startBrowser } from '../support/browser.js';
import { type LogClient, logClient } from '../support/log-client.js';
import { type Server, startServer } from '../support/server-process.js';
import { button, noScroll } from './dashboard-page.js';

export const TOKEN = 'token-of-the-explorer';
export const PASSWORD = 'pässword';
export const PHONE = { width: 390, height: 844 };
const PRODUCERS = ['shop', 'mailer'].map((id) => ({ id, token: `token-of-the-${id}` }));

export interface Explorer {
  base(): string;
  server(): Server;
  readonly client: () => LogClient;
  /** Sends records as a producer; they are visible to the next query. */
  send(producer: 'shop' | 'mailer', records: readonly object[]): Promise<void>;
  /** In a context of its own, signed in with the token; `#/…` of the address. What the page complained of fails the test. */
  open(hash?: string, options?: BrowserContextOptions): Promise<Page>;
  openSignedOut(hash?: string): Promise<Page>;
}

/** To be called within `describe`: one server and one browser for all of its tests, which are skipped where there is none. */
export function useExplorer(flags: readonly string[] = []): Explorer {
  const directory = temporaryDirectory();
  let server: Server;
  let browser: Browser;
  let pages: { readonly page: Page; readonly complaints: readonly string[] }[] = [];
  before(async function () {
    if (!hasBrowser) this.skip();
    browser = await startBrowser();
    server = await startServer(directory.path, ['logs', '--logs-api-token', TOKEN, ...flags], {
      ANNALS_LOGS_BASIC_USERNAME: 'ada',
      ANNALS_LOGS_BASIC_PASSWORD: PASSWORD,
      ANNALS_LOGS_PRODUCERS: JSON.stringify(PRODUCERS),
    });
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

  const base = () => server.urls.logs ?? '';
  const client = () => logClient(base());

  async function openSignedOut(hash = '', options: BrowserContextOptions = {}) {
    const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'Europe/Berlin', ...options });
    const page = await context.newPage();
    pages.push({ page, complaints: complaintsOf(page, base()) });
    await page.goto(`${base()}/${hash}`);
    return page;
  }

  return {
    base,
    client,
    server: () => server,
    openSignedOut,
    async send(producer, records) {
      const { body } = await client().ingest(records, { authorization: `Bearer token-of-the-${producer}` });
      expect(body.accepted).to.equal(records.length);
    },
    async open(hash, options) {
      const page = await openSignedOut(hash, options);
      await signIn(page);
      return page;
    },
  };
}

export async function signIn(page: Page, token = TOKEN): Promise<void> {
  await page.getByLabel('API token').fill(token);
  await button(page, 'Sign in').click();
}

export const queryBar = (page: Page): Locator => page.getByRole('combobox', { name: 'Query' });

/** Rows of records, by a part of their text. */
export const rows = (page: Page, text?: string | RegExp): Locator =>
  page.locator('.results .record-row').filter(text === undefined ? {} : { hasText: text });

/** Messages of the rows that are shown, top to bottom. */
export const shownMessages = (page: Page): Promise<string[]> =>
  page.locator('.results .record-row .message').allInnerTexts();

/** Waits until the page shows this number of matching records. */
export const matching = (page: Page, count: number | string): Promise<void> =>
  page
    .locator('.matching strong')
    .filter({ hasText: new RegExp(`^${count} records?$`) })
    .waitFor();

/** A value among the filters. */
export const facet = (page: Page, value: string): Locator =>
  page.locator('.facets-column button.value').filter({ has: page.locator(`.name:text-is("${value}")`) });

/** The parameters of the query in the address. */
export const addressOf = (page: Page): URLSearchParams =>
  new URLSearchParams(new URL(page.url()).hash.split('?', 2)[1] ?? '');

/** Readable by everybody, in both schemes, wide and narrow; with pictures for who wants to see it. */
export async function looksRight(page: Page, name: string): Promise<void> {
  await accessible(page);
  await noScroll(page);
  await picture(page, `${name}-light`);
  await page.emulateMedia({ colorScheme: 'dark' });
  await picture(page, `${name}-dark`);
  const wide = page.viewportSize() ?? PHONE;
  await page.setViewportSize(PHONE);
  await accessible(page);
  await noScroll(page);
  await picture(page, `${name}-dark-phone`);
  await page.emulateMedia({ colorScheme: 'light' });
  await picture(page, `${name}-light-phone`);
  await page.setViewportSize(wide);
}

async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder) await page.screenshot({ path: `${folder}/logs-${name}.png` });
}

export const HOUR = 3_600_000;

/** Six records of the last hour; returns the instant of the first. */
export async function seed(explorer: Explorer): Promise<number> {
  const start = Date.now() - HOUR;
  const at = (minutes: number) => new Date(start + minutes * 60_000).toISOString();
  await explorer.send('shop', [
    { timestamp: at(0), level: 'info', event: 'order.placed', message: 'Order A-1 placed', order: { id: 'A-1' } },
    { timestamp: at(1), level: 'warn', event: 'payment.retry', message: 'Retrying A-1', order: { id: 'A-1' } },
    {
      timestamp: at(2),
      level: 'error',
      event: 'payment.failed',
      message: 'Card was declined for A-1',
      requestId: 'req-7',
      order: { id: 'A-1', total: 12345678901234567890n.toString() },
      user: { name: 'Ada Lovelace' },
      err: { stack: 'Error: declined\n    at charge (pay.js:8)' },
    },
    { timestamp: at(30), level: 'info', event: 'order.placed', message: 'Order B-2 placed', order: { id: 'B-2' } },
  ]);
  await explorer.send('mailer', [
    { timestamp: at(3), level: 'info', event: 'mail.sent', message: 'Receipt <b>sent</b>', requestId: 'req-7' },
    { timestamp: at(31), level: 'debug', event: 'queue.poll', message: 'Polled 0 messages' },
  ]);
  return start;
}
