/** A tab with the trial page of meetings, and what its reader does and sees there. */
import { readFile } from 'node:fs/promises';
import { eventually } from '@annals/engines/testing/condition.js';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { complaintsOf } from '../support/browser.js';

export interface Tab {
  readonly page: Page;
  /** What it asked of others than the service, and what its rules did not let it do. */
  readonly complaints: readonly string[];
  /** Fills the lobby's form and joins; whatever comes of it. */
  join(roomId: string, more?: { readonly password?: string; readonly start?: boolean }): Promise<void>;
  /** Resolves to the id of the room when it is inside. */
  create(more?: { readonly title?: string; readonly password?: string; readonly most?: number }): Promise<string>;
  inside(): Promise<void>;
  button(name: string): Locator;
  /** Of somebody else. */
  tile(name: string): Locator;
  /** Resolves when the picture of somebody else moves, and a word goes to them and back. */
  sees(name: string): Promise<void>;
  send(text: string): Promise<void>;
  /** Resolves when the chat shows it. */
  reads(text: string): Promise<void>;
  sendFile(to: string, name: string, bytes: Buffer): Promise<void>;
  /** Accepts what is offered, and saves it. */
  saves(name: string): Promise<Buffer>;
  /** Resolves when the lobby says it. */
  seesError(trouble: RegExp): Promise<void>;
}

const PATIENCE_MS = Number(process.env.PATIENCE_MS ?? 120_000);

/** What a test asks of a `<video>`. */
export interface Video {
  readonly videoWidth: number;
  getVideoPlaybackQuality(): { readonly totalVideoFrames: number };
}

/** In a context of its own: nothing is shared with other tabs. Closed with its browser. */
export async function openTab(
  browser: Browser,
  base: string,
  name: string,
  options?: BrowserContextOptions,
): Promise<Tab> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  // Under load all takes its time: a test that fails, fails by its own time-out.
  page.setDefaultTimeout(PATIENCE_MS);
  const complaints = complaintsOf(page, base);
  await page.goto(base);
  await page.getByLabel('Your name').fill(name);

  const button = (label: string) => page.getByRole('button', { name: label, exact: true });
  const tile = (of: string) => page.locator('.tile', { has: page.locator('figcaption', { hasText: of }) });
  const inside = () => page.locator('#meeting').waitFor();
  return {
    page,
    complaints,
    button,
    tile,
    inside,
    async join(roomId, { password = '', start = false } = {}) {
      const form = page.locator('#join');
      await form.getByLabel('Meeting id').fill(roomId);
      await form.getByLabel('Password').fill(password);
      await form.getByLabel('Start it').setChecked(start);
      await form.getByRole('button', { name: 'Join' }).click();
    },
    async create({ title = '', password = '', most = 8 } = {}) {
      const form = page.locator('#create');
      await form.getByLabel('Title').fill(title);
      await form.getByLabel('Password').fill(password);
      await form.getByLabel('Maximum participants').fill(String(most));
      await form.getByRole('button', { name: 'Create' }).click();
      await inside();
      return (await page.locator('#room-id').textContent()) ?? '';
    },
    async sees(of) {
      const video = tile(of).locator('video');
      const frames = () =>
        video.evaluate((shown) => (shown as unknown as Video).getVideoPlaybackQuality().totalVideoFrames);
      await tile(of).and(page.locator('[data-state=connected]')).waitFor();
      const before = await frames();
      await eventually(async () => (await frames()) > before + 5);
      await tile(of)
        .getByText(/^direct, \d+ ms$/)
        .waitFor();
    },
    async send(text) {
      await page.getByLabel('Message', { exact: true }).fill(text);
      await page.keyboard.press('Enter');
    },
    reads: (text) => page.locator('#log').getByText(text, { exact: true }).first().waitFor(),
    async sendFile(to, file, buffer) {
      const row = page.locator('.person', { has: page.locator('.who', { hasText: to }) });
      await row.locator('input[type=file]').setInputFiles({ name: file, mimeType: '', buffer });
    },
    async saves(file) {
      const line = page.locator('.file', { hasText: file });
      await line.getByRole('button', { name: 'Accept' }).click();
      const saving = page.waitForEvent('download');
      await line.getByRole('link', { name: 'Save' }).click();
      const download = await saving;
      if (download.suggestedFilename() !== file) throw new Error(`saved as ${download.suggestedFilename()}`);
      return readFile(await download.path());
    },
    seesError: (trouble) => page.locator('#lobby-trouble').filter({ hasText: trouble }).waitFor(),
  };
}
