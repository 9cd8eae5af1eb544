/** The page of encrypted rooms in a real browser, on a node of its own, and what people do there. */
import { expect } from 'chai';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { rooms } from '../../bin/services/rooms.js';
import { accessible, complaintsOf, hasBrowser, startBrowser } from '../support/browser.js';
import { type RunningNode, startNode } from '../support/node.js';

export const PHONE = { width: 390, height: 844 };

export interface Rooms {
  base(): string;
  /** In a context of its own, which ends with the test; what its page complained of fails the test. */
  open(path?: string, options?: BrowserContextOptions): Promise<Page>;
  /** Another tab of the same browser. */
  openTab(beside: Page, path: string): Promise<Page>;
}

/** To be called within `describe`: one node and one browser for its tests. */
export function useRooms(): Rooms {
  let node: RunningNode;
  let browser: Browser;
  let pages: { readonly page: Page; readonly complaints: readonly string[] }[] = [];
  const base = () => node.url('rooms');
  before(async function () {
    if (!hasBrowser) this.skip();
    const flags = { '--rooms-port': '0', '--rooms-create-per-hour': '100000', '--rooms-min-ttl-ms': '1' };
    node = await startNode([rooms], { flags });
    browser = await startBrowser();
  });
  after(async () => {
    await browser?.close();
    await node?.stop();
  });
  afterEach(async () => {
    const ended = pages;
    pages = [];
    for (const { page } of ended) await page.context().close();
    expect(ended.flatMap(({ complaints }) => complaints)).to.deep.equal([]);
  });

  async function goto(page: Page, path: string) {
    pages.push({ page, complaints: complaintsOf(page, base()) });
    await page.goto(new URL(path, base()).href);
    return page;
  }

  return {
    base,
    async open(path = '/', options = {}) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-GB', ...options });
      return goto(await context.newPage(), path);
    },
    openTab: async (beside, path) => goto(await beside.context().newPage(), path),
  };
}

export async function createRoom(page: Page, name: string, title = ''): Promise<string> {
  await page.getByLabel('Your name').fill(name);
  await page.getByLabel('Topic').fill(title);
  await page.getByRole('button', { name: 'Create room' }).click();
  await page.getByText('Nobody else is here yet').waitFor();
  return /#\/room\/([\w-]+)/.exec(page.url())?.[1] ?? '';
}

/** Makes an invite link, and closes the dialog. */
export async function inviteLink(page: Page, label = ''): Promise<string> {
  await page.getByRole('button', { name: 'Invite', exact: true }).click();
  await page.getByLabel('For whom').fill(label);
  await page.getByRole('button', { name: 'Create link' }).click();
  const link = await page.getByLabel('Invite link').inputValue();
  await page.keyboard.press('Escape');
  return link;
}

export async function joinBy(page: Page, name: string): Promise<void> {
  await page.getByLabel('Your name').fill(name);
  await page.getByRole('button', { name: 'Join' }).click();
  await page.getByRole('log').waitFor();
}

export async function sendText(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill(text);
  await page.keyboard.press('Enter');
}

export const reads = (page: Page, text: string | RegExp): Promise<void> =>
  page.getByRole('log').getByText(text).first().waitFor();

export async function choose(page: Page, item: string): Promise<void> {
  await page.getByRole('button', { name: 'Room menu' }).click();
  await page.getByRole('menuitem', { name: item }).click();
}

/** Accessible, and nothing wider than the window. */
export async function inOrder(page: Page): Promise<void> {
  await accessible(page);
  expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).to.be.at.most(0);
}

/** Saves a picture if SCREENSHOTS names a folder. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder) await page.screenshot({ path: `${folder}/rooms-${name}.png` });
}
