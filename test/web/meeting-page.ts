/** A tab with the page of meetings, and what its reader does and sees there. */
import { readFile } from 'node:fs/promises';
import { eventually } from '@annals/engines/testing/condition.js';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { complaintsOf } from '../support/browser.js';

export interface Tab {
  readonly page: Page;
  /** What it asked of others than the service, and what its rules did not let it do. */
  readonly complaints: readonly string[];
  /** Fills the lobby's form and joins, without waiting for the outcome. */
  join(roomId: string, more?: { readonly password?: string; readonly start?: boolean }): Promise<void>;
  /** Resolves to the id of the room when it is inside. */
  create(more?: { readonly title?: string; readonly password?: string; readonly most?: number }): Promise<string>;
  inside(): Promise<void>;
  inLobby(): Promise<void>;
  roomId(): Promise<string>;
  button(name: string): Locator;
  /** Shows the panel, if it is not shown. */
  open(panel: 'People' | 'Chat'): Promise<void>;
  /** Chooses an item of the menu of seldom actions. */
  choose(item: string): Promise<void>;
  /** Opens the menu of actions on a participant; resolves to its items. */
  actionsOn(name: string): Promise<Locator>;
  act(name: string, item: string): Promise<void>;
  /** Entries of the panel of people that match. */
  who(text: string | RegExp): Locator;
  /** Video tile of another participant. */
  tile(name: string): Locator;
  /** Waits until the video of a participant moves and a chat message was answered. */
  sees(name: string): Promise<void>;
  send(text: string): Promise<void>;
  /** Resolves when the chat shows it. */
  reads(text: string): Promise<void>;
  /** Lines of the chat. */
  readonly lines: Locator;
  sendFile(to: string, name: string, bytes: Buffer): Promise<void>;
  /** Accepts what is offered, and saves it. */
  saves(name: string): Promise<Buffer>;
  /** Resolves when the lobby says it. */
  seesError(trouble: RegExp): Promise<void>;
  /** Says that the connection is lost. */
  readonly away: Locator;
  readonly locked: Locator;
  readonly recording: Locator;
  /** Messages that are not sent yet. */
  readonly outbox: Locator;
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
  const tile = (of: string) =>
    page.locator('.tile[data-kind=person]', { has: page.locator('figcaption', { hasText: of }) });
  const inside = () => page.locator('main.meeting').waitFor();
  const roomId = async () => (await page.locator('main.meeting header code').textContent()) ?? '';
  const log = page.getByRole('log');

  async function unfold(form: Locator) {
    if (!(await form.getByLabel('Password').isVisible())) await form.getByText('More options').click();
  }

  async function open(panel: 'People' | 'Chat') {
    await inside();
    const opened = page.getByRole('complementary', { name: panel });
    if (await opened.isVisible()) return;
    const opener = page.getByRole('toolbar').getByRole('button', { name: new RegExp(`^${panel}`) });
    if (await opener.isVisible()) await opener.click();
    else await choose(panel);
    await opened.waitFor();
  }

  async function choose(item: string) {
    await button('More').click();
    await page.getByRole('menuitem', { name: item, exact: true }).click();
  }

  async function actionsOn(of: string) {
    await open('People');
    const row = page.locator('.person', { has: page.locator('.who', { hasText: of }) });
    await row.getByRole('button', { name: /^Actions/ }).click();
    return page.getByRole('menuitem');
  }

  async function act(of: string, item: string) {
    await (await actionsOn(of)).filter({ hasText: item }).click();
  }

  return {
    page,
    complaints,
    button,
    open,
    choose,
    actionsOn,
    act,
    tile,
    inside,
    inLobby: () => page.locator('main.lobby').waitFor(),
    roomId,
    async join(id, { password = '', start = false } = {}) {
      const form = page.getByRole('form', { name: 'Join a meeting' });
      await form.getByLabel('Meeting id').fill(id);
      if (password || start) await unfold(form);
      if (password) await form.getByLabel('Password').fill(password);
      if (start) await form.getByLabel('Start it').check();
      await form.getByRole('button', { name: 'Join' }).click();
    },
    async create({ title = '', password = '', most = 8 } = {}) {
      const other = button('Another meeting');
      if (await other.isVisible()) await other.click();
      const form = page.getByRole('form', { name: 'New meeting' });
      await form.getByLabel('Title').fill(title);
      await unfold(form);
      await form.getByLabel('Password').fill(password);
      await form.getByLabel('Maximum participants').fill(String(most));
      await form.getByRole('button', { name: 'Create' }).click();
      await inside();
      return roomId();
    },
    who: (text) => page.locator('.person .who', { hasText: text }),
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
      await open('Chat');
      await page.getByLabel('Message', { exact: true }).fill(text);
      await page.keyboard.press('Enter');
    },
    async reads(text) {
      await open('Chat');
      await log.getByText(text, { exact: true }).first().waitFor();
    },
    lines: log.getByRole('listitem'),
    async sendFile(to, file, buffer) {
      const choosing = page.waitForEvent('filechooser');
      await act(to, 'Send file');
      await (await choosing).setFiles({ name: file, mimeType: 'application/octet-stream', buffer });
    },
    async saves(file) {
      await open('Chat');
      const line = page.locator('.file', { hasText: file });
      await line.getByRole('button', { name: 'Accept' }).click();
      const saving = page.waitForEvent('download');
      await line.getByRole('link', { name: 'Save' }).click();
      const download = await saving;
      if (download.suggestedFilename() !== file) throw new Error(`saved as ${download.suggestedFilename()}`);
      return readFile(await download.path());
    },
    seesError: (trouble) => page.locator('main.lobby').getByRole('alert').filter({ hasText: trouble }).waitFor(),
    away: page.getByText('Connection lost. Reconnecting…'),
    locked: page.locator('header').getByText('Locked', { exact: true }),
    recording: page.locator('header').getByText(/^Recorded by/),
    outbox: page.getByRole('region', { name: 'Not sent yet' }),
  };
}
