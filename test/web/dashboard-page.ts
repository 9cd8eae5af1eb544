/** The dashboard in a real browser, on a node and with mail of its own, and what its readers do and see there. */
import { readFile } from 'node:fs/promises';
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { ADMIN, type AnalyticsNodes, useAnalytics } from '../support/analytics-node.js';
import { complaintsOf, hasBrowser, startBrowser } from '../support/browser.js';
import { type Letter, type PostOffice, startPostOffice } from '../support/smtp-server.js';

/** Who may sign in by a link. */
export const ADA = 'ada@example.org';

export interface Dashboard {
  readonly analytics: AnalyticsNodes;
  base(): string;
  /** In a context of its own, which ends with the test; what its page complained of by then fails it. */
  open(path?: string, options?: BrowserContextOptions): Promise<Page>;
  /** With the admin token, at a site, once its report is there. */
  openAt(site: string, options?: BrowserContextOptions): Promise<Page>;
  /** Resolves to the newest mail to an address once it has `count` mails. */
  letterTo(email: string, count?: number): Promise<Letter>;
  /** Number of mails received. */
  mails(): number;
}

/** To be called within `describe`: one server and one browser for all of its tests, which are skipped where there is none. */
export function useDashboard(): Dashboard {
  let office: PostOffice;
  const flags: { [flag: string]: string } = {
    '--analytics-allowed-emails': ADA,
    '--email-host': '127.0.0.1',
    '--email-from': 'stats@example.org',
  };
  before(async function () {
    if (!hasBrowser) this.skip();
    office = await startPostOffice();
    flags['--email-port'] = String(office.port);
  });
  const analytics = useAnalytics(flags);
  let browser: Browser;
  let pages: { readonly page: Page; readonly complaints: readonly string[] }[] = [];
  before(async () => {
    browser = await startBrowser();
  });
  after(async () => {
    await browser?.close();
    office?.stop();
  });
  afterEach(async () => {
    const ended = pages;
    pages = [];
    for (const { page } of ended) await page.context().close();
    expect(ended.flatMap(({ complaints }) => complaints)).to.deep.equal([]);
  });

  const base = () => analytics.bases[0] ?? '';

  async function open(path = '/', options: BrowserContextOptions = {}) {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    pages.push({ page, complaints: complaintsOf(page, base()) });
    await page.goto(base() + path);
    return page;
  }

  return {
    analytics,
    base,
    open,
    async openAt(site, options) {
      const page = await open(`/?site=${site}`, options);
      await signInByToken(page);
      await page.locator('#totals').waitFor();
      return page;
    },
    letterTo: (email, count) => office.letterTo(email, count),
    mails: () => office.letters.length,
  };
}

export async function signInByToken(page: Page, token = ADMIN): Promise<void> {
  await page.getByText('I have the admin token').click();
  await page.getByLabel('Admin token').fill(token);
  await button(page, 'Sign in').click();
}

export const button = (page: Page, name: string | RegExp): Locator => page.getByRole('button', { name, exact: true });

/** Chooses an item of the account's menu. */
export async function choose(page: Page, item: string): Promise<void> {
  await page.locator('.account').getByRole('button').click();
  await page.getByRole('menuitem', { name: item, exact: true }).click();
}

/** Shows a list of the report, which may share its card with others. */
export async function showList(page: Page, title: string): Promise<void> {
  const tab = page.getByRole('tab', { name: title, exact: true });
  if ((await tab.count()) > 0) await tab.click();
}

/** Resolves when a place shows a text. */
export const expectText = (page: Page, place: string, text: string | RegExp): Promise<void> =>
  page.locator(place).filter({ hasText: text }).waitFor();

/** After a resize the chart is drawn anew a moment later. */
export async function noScroll(page: Page): Promise<void> {
  const overflow = () => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
  await eventually(async () => (await overflow()) <= 0).catch(() => {});
  expect(await overflow()).to.be.at.most(0);
}

/** On the narrowest phones nothing sticks out either, and these elements share a row, with one line of text each. */
export async function fitsNarrow(page: Page, selector: string): Promise<void> {
  const wide = page.viewportSize();
  await page.setViewportSize({ width: 320, height: 700 });
  await noScroll(page);
  const boxes = await page.evaluate<{ y: number; height: number }[]>(`
    [...document.querySelectorAll('${selector}')].map((element) => {
      const range = document.createRange();
      range.selectNodeContents(element);
      return range.getBoundingClientRect().toJSON();
    }).filter(({ height }) => height > 0)`);
  const middles = boxes.map(({ y, height }) => y + height / 2);
  expect(Math.max(...middles) - Math.min(...middles), `rows of ${selector}`).to.be.below(12);
  expect(Math.max(...boxes.map(({ height }) => height)), `height of ${selector}`).to.be.below(35);
  if (wide) await page.setViewportSize(wide);
}

/** Resolves when a point of the chart has this colour: red, green, blue. */
export const draws = (page: Page, colour: readonly number[]): Promise<unknown> =>
  eventually(() =>
    page.evaluate<boolean>(
      `(([r, g, b]) => {
        const canvas = document.querySelector('#chart canvas');
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        for (let at = 0; at < data.length; at += 4)
          if (data[at] === r && data[at + 1] === g && data[at + 2] === b && data[at + 3] === 255) return true;
        return false;
      })(${JSON.stringify(colour)})`,
    ),
  );

/** For who wants to see it: into the folder that SCREENSHOTS names. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder) await page.screenshot({ path: `${folder}/dashboard-${name}.png`, fullPage: true });
}

/** The file that a button saves. */
export async function saved(page: Page, name: string): Promise<{ readonly file: string; readonly text: string }> {
  const saving = page.waitForEvent('download');
  await button(page, name).click();
  const download = await saving;
  return { file: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') };
}
