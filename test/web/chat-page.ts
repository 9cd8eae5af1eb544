/** The chat's page in a real browser: tabs that fail the test on console errors, and sign-in. */
import { expect } from 'chai';
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { complaintsOf, hasBrowser, startBrowser } from '../support/browser.js';

export const PHONE = { width: 390, height: 844 };

interface TabOptions extends BrowserContextOptions {
  readonly context?: BrowserContext;
  /** Origin of another server that the tab goes to. */
  readonly visits?: string;
}

export interface ChatPages {
  /** In a context of its own, unless one is given; contexts end with the test. */
  open(address: string, options?: TabOptions): Promise<Page>;
}

/** To be called within `describe`, which is skipped where there is no browser. */
export function useChatPages(): ChatPages {
  let browser: Browser;
  let tabs: { readonly page: Page; readonly complaints: () => readonly string[] }[] = [];
  before(async function () {
    if (!hasBrowser) this.skip();
    browser = await startBrowser();
  });
  after(() => browser?.close());
  afterEach(async () => {
    const ended = tabs;
    tabs = [];
    for (const { page } of ended) await page.context().close();
    expect(ended.flatMap(({ complaints }) => complaints())).to.deep.equal([]);
  });
  return {
    async open(address, { context: given, visits, ...options } = {}) {
      const context = given ?? (await browser.newContext(options));
      const page = await context.newPage();
      const all = complaintsOf(page, new URL(address).origin);
      tabs.push({ page, complaints: () => all.filter((each) => !visits || !each.startsWith(visits)) });
      await page.goto(address);
      return page;
    },
  };
}

export const button = (page: Page, name: string | RegExp): Locator => page.getByRole('button', { name, exact: true });

/** Resolves when the channels are in view, after signing in. */
export const inWorkspace = (page: Page): Promise<void> => page.locator('.workspace').waitFor({ state: 'attached' });

/** Resolves when the page shows a text. */
export const expectText = (page: Page, text: string | RegExp): Promise<void> => page.getByText(text).first().waitFor();

/** Shows a section of the settings, for example `admin/members`. */
export async function openSection(page: Page, path: string): Promise<void> {
  await page.evaluate(`location.hash = '#/${path}'`);
  await page.locator(`.settings-sections a[href="#/${path}"][aria-current]`).waitFor();
  await page.locator('.settings-content .state .spinner').waitFor({ state: 'detached' });
}

/** Nothing sticks out at the side. */
export async function noScroll(page: Page): Promise<void> {
  expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).to.be.at.most(0);
}

/** Into the folder that SCREENSHOTS names. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder) await page.screenshot({ path: `${folder}/chat-${name}.png` });
}
