/** Places of the chat page: channels, people, direct messages, files, search, keys, and a long history. */
import { readFile } from 'node:fs/promises';
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { accessible } from '../support/browser.js';
import type { Member } from '../support/http-spec.js';
import { button, noScroll, PHONE, picture } from './chat-page.js';
import { composer, message, panel, placeLink, timeline, useWorkspaces, write } from './chat-workspace.js';

/** A picture of one pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describe('places of the chat page', function () {
  this.timeout(120_000);
  const { chat, channel, post, enter } = useWorkspaces();
  let ada: Member;
  let bob: Member;
  before(async () => {
    [ada, bob] = [await chat.join('ada'), await chat.join('bob')];
  });

  it('are created, private for their members, changed and deleted', async () => {
    const start = await channel('start');
    const [adas, bobs] = [await enter(ada, `channels/${start}`), await enter(bob, `channels/${start}`)];
    await button(adas, 'New channel').click();
    await adas.getByLabel('Name').fill('start');
    await button(adas, 'Create').click();
    await adas.getByRole('alert').waitFor();
    await adas.getByLabel('Name').fill('salaries');
    await adas.getByLabel('Topic').fill('For a few');
    await adas.getByLabel('Private:').check();
    await accessible(adas);
    await button(adas, 'Create').click();
    await adas.getByText('This is the beginning of #salaries').waitFor();
    await accessible(adas);
    expect(await placeLink(bobs, 'salaries').count()).to.equal(0);

    await button(adas, 'People').click();
    await button(adas, 'Change members').click();
    await adas.getByRole('dialog').getByText('bob').click();
    await button(adas, 'Save').click();
    await placeLink(bobs, 'salaries').click();
    await write(adas, 'Welcome, @bob');
    await message(bobs, 'Welcome').locator('.mention.own').waitFor();
    await panel(adas).locator('li', { hasText: 'bob' }).waitFor();
    await accessible(adas);

    await button(adas, 'More options').click();
    await adas.getByRole('menuitem', { name: 'Delete channel' }).click();
    await button(adas, 'Delete').click();
    await bobs.getByText('This channel does not exist or is private').waitFor();
    await accessible(bobs);
    expect(await placeLink(adas, 'salaries').count()).to.equal(0);
    await timeline(adas).waitFor();
  });

  it('include direct messages, found by a few letters, and by keys alone', async () => {
    const start = await channel('keys');
    const [adas, bobs] = [await enter(ada, `channels/${start}`), await enter(bob, `channels/${start}`)];
    await adas.keyboard.press('Control+k');
    await adas.getByRole('combobox').and(adas.locator(':focus')).waitFor();
    await adas.keyboard.type('bo');
    await accessible(adas);
    await adas.keyboard.press('Enter');
    await adas.getByText('Only the two of you can read it').waitFor();
    await adas.keyboard.type('psst');
    await adas.keyboard.press('Enter');
    await placeLink(bobs, 'ada').locator('.badge', { hasText: '1' }).waitFor();
    await bobs.keyboard.press('Alt+Shift+ArrowDown');
    await message(bobs, 'psst').waitFor();
    await placeLink(bobs, 'ada').locator('.badge').waitFor({ state: 'detached' });

    // In an empty field, too, where the arrow alone edits the last message.
    await composer(adas).press('Alt+ArrowUp');
    await adas.getByText('This is the beginning of #').waitFor();
    await composer(adas).press('Alt+ArrowDown');
    await message(adas, 'psst').waitFor();

    // From the field to the messages and back.
    await timeline(adas).focus();
    await adas.keyboard.press('ArrowUp');
    expect(await adas.evaluate('document.activeElement.textContent')).to.contain('psst');
    await adas.keyboard.press('?');
    await adas.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor();
    await accessible(adas);
    await adas.keyboard.press('Escape');
    await adas.getByRole('button', { name: 'Status and settings' }).click();
    await adas.getByRole('menuitemcheckbox', { name: 'Away' }).click();
    await placeLink(bobs, 'ada').locator('.status-dot.away').waitFor();
  });

  it('take files and images with a preview, and give them back', async () => {
    const id = await channel('files');
    const page = await enter(ada, `channels/${id}`, { viewport: PHONE, acceptDownloads: true });
    await page.locator('.place input[type=file]').setInputFiles([
      { name: 'notes.md', mimeType: 'text/markdown', buffer: Buffer.from('# Notes\n') },
      { name: 'pixel.png', mimeType: 'image/png', buffer: PNG },
      { name: 'tool.exe', mimeType: 'application/octet-stream', buffer: Buffer.from('MZ') },
    ]);
    await page.getByText('tool.exe has a type that cannot be sent').waitFor();
    await page.locator('.draft-files img').waitFor();
    await accessible(page);
    // What was uploaded is part of the draft.
    await page.reload();
    await page.locator('.draft-files', { hasText: 'notes.md' }).locator('img').waitFor();
    await button(page, 'Send').click();
    await page.locator('.message .image img').click();
    await page.locator('.lightbox img').waitFor();
    await accessible(page);
    await page.keyboard.press('Escape');
    await page.locator('.lightbox').waitFor({ state: 'detached' });
    const saving = page.waitForEvent('download');
    await page.locator('.attachment').click();
    const download = await saving;
    expect(download.suggestedFilename()).to.equal('notes.md');
    expect(await readFile(await download.path(), 'utf8')).to.equal('# Notes\n');
    await noScroll(page);

    // A pasted picture.
    await page.evaluate(`(() => {
      const files = new DataTransfer();
      files.items.add(new File([Uint8Array.from(${JSON.stringify([...PNG])})], 'image.png', { type: 'image/png' }));
      const field = document.querySelector('.composer textarea');
      field.dispatchEvent(new ClipboardEvent('paste', { clipboardData: files, bubbles: true, cancelable: true }));
    })()`);
    await page.locator('.draft-files img').waitFor();
    await button(page, 'Remove image').click();
    await page.locator('.draft-files').waitFor({ state: 'detached' });
  });

  it('take files dropped anywhere on them, and let none replace the page', async () => {
    const id = await channel('drops');
    const page = await enter(ada, `channels/${id}`);
    /** Whether the page leaves it to the browser to open the file. */
    const drop = (type: string, selector: string, name: string) =>
      page.evaluate<boolean>(`(() => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File(['text'], ${JSON.stringify(name)}, { type: 'text/plain' }));
        const event = new DragEvent(${JSON.stringify(type)}, { dataTransfer, bubbles: true, cancelable: true });
        return document.querySelector(${JSON.stringify(selector)}).dispatchEvent(event);
      })()`);
    expect(await drop('dragover', '.place .messages', 'notes.txt')).to.equal(false);
    await page.getByText('Drop to attach').waitFor();
    expect(await drop('drop', '.place .messages', 'notes.txt')).to.equal(false);
    await page.locator('.draft-files', { hasText: 'notes.txt' }).waitFor();
    await page.getByText('Drop to attach').waitFor({ state: 'detached' });
    expect(await drop('dragover', '.sidebar', 'other.txt')).to.equal(false);
    expect(await drop('drop', '.sidebar', 'other.txt')).to.equal(false);
    expect(await page.locator('.draft-files', { hasText: 'other.txt' }).count()).to.equal(0);
  });

  it('stay where the reader is in a long history, with few rows in the document', async () => {
    const id = await channel('history');
    for (let from = 0; from < 200; from += 20)
      await Promise.all(
        Array.from({ length: 20 }, (_, index) => post(from % 40 ? ada : bob, id, `Entry ${from + index} `.repeat(9))),
      );
    const page = await enter(bob, `channels/${id}`, { viewport: { width: 1280, height: 720 } });
    await message(page, 'Entry 19').first().waitFor();
    const read = (script: string) =>
      page.evaluate<number>(`(() => { const list = document.querySelector('.messages'); ${script} })()`);
    // Each older page comes in above; the row that was at the top stays there.
    for (let pages = 0; pages < 2; pages++) {
      const height = await read('return list.scrollHeight');
      await read('list.scrollTop = 500; return 0');
      await eventually(async () => (await read('return list.scrollHeight')) > height + 500);
    }
    expect(await read("return list.querySelectorAll('article').length")).to.be.lessThan(120);
    expect(await read('return list.scrollTop')).to.be.greaterThan(500);
    await picture(page, 'history');
    await post(ada, id, 'Something new');
    await button(page, '1 new message').click();
    await message(page, 'Something new').waitFor();
    await page.locator('.to-end').waitFor({ state: 'detached' });
    expect(await composer(page).isVisible()).to.equal(true);
  });
});
