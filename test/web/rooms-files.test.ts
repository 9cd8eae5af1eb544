/** Files in encrypted rooms in a real browser, and what the page says when something is not accepted. */
import { readFile } from 'node:fs/promises';
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { createRoom, inOrder, inviteLink, joinBy, PHONE, picture, reads, sendText, useRooms } from './rooms-page.js';

/** An image of 900 by 600 pixels that does not compress well. */
const NOISE = `(async () => {
  const canvas = new OffscreenCanvas(900, 600);
  const context = canvas.getContext('2d');
  const image = context.createImageData(900, 600);
  for (let at = 0; at < image.data.length; at += 65536) crypto.getRandomValues(image.data.subarray(at, at + 65536));
  for (let at = 3; at < image.data.length; at += 4) image.data[at] = 255;
  context.putImageData(image, 0, 0);
  const bytes = new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer());
  return [...bytes].map((byte) => String.fromCharCode(byte)).join('');
})()`;

describe('rooms page, files and limits', function () {
  this.timeout(120_000);
  const { open, base } = useRooms();

  it('sends images without their metadata, and files, in parts', async () => {
    const ada = await open();
    await createRoom(ada, 'Ada');
    const bob = await open(await inviteLink(ada));
    await joinBy(bob, 'Bob');
    const noise = Buffer.from(await ada.evaluate<string>(NOISE), 'latin1');
    expect(noise.length).to.be.above(1_500_000);
    const notes = Buffer.from('x'.repeat(60_000));
    const picker = ada.locator('input[type=file]');
    await picker.setInputFiles([
      { name: 'holiday.png', mimeType: 'image/png', buffer: noise },
      { name: 'notes.txt', mimeType: 'text/plain', buffer: notes },
    ]);
    const image = bob.getByRole('img', { name: 'Image holiday' });
    await image.waitFor();
    const width = () => bob.evaluate<number>("document.querySelector('.picture img').naturalWidth");
    await eventually(async () => expect(await width()).to.be.above(400));
    await ada.getByRole('img', { name: 'Image holiday' }).waitFor();

    await bob.getByRole('button', { name: 'Open holiday' }).click();
    await bob.getByRole('link', { name: 'Save holiday' }).waitFor();
    await inOrder(bob);
    await bob.keyboard.press('Escape');

    const link = bob.getByRole('link', { name: /^notes.txt/ });
    await link.waitFor();
    const saving = bob.waitForEvent('download');
    await link.click();
    const download = await saving;
    expect(download.suggestedFilename()).to.equal('notes.txt');
    expect((await readFile(await download.path())).equals(notes)).to.equal(true);
    await inOrder(bob);
    await picture(bob, 'files');

    await picker.setInputFiles({
      name: 'film.bin',
      mimeType: 'application/octet-stream',
      buffer: Buffer.alloc(1_000_000),
    });
    await ada.getByText('film.bin is too large').waitFor();
    await ada.getByLabel('Message', { exact: true }).fill('long '.repeat(6000));
    await ada.getByText('The message is too long').waitFor();
    expect(await ada.getByRole('button', { name: 'Send' }).isDisabled()).to.equal(true);
    await inOrder(ada);
  });

  it('stays at the newest message when an image grows before the event of its own scrolling', async () => {
    const page = await open('/', { viewport: PHONE });
    await createRoom(page, 'Ada');
    await sendText(page, 'line\n'.repeat(60));
    await reads(page, 'line');
    const log = "document.querySelector('[role=log]')";
    const toEnd = () => page.evaluate<number>(`${log}.scrollHeight - ${log}.clientHeight - ${log}.scrollTop`);
    await eventually(async () => expect(await toEnd()).to.be.below(1));
    await page.evaluate(`{
      ${log}.querySelector('[data-key]:last-child').style.paddingBottom = '300px';
      ${log}.dispatchEvent(new Event('scroll'));
    }`);
    await eventually(async () => expect(await toEnd()).to.be.below(1));
    await page.getByRole('button', { name: 'Newest messages' }).waitFor({ state: 'detached' });
  });

  it('waits when the service asks to, and says what is wrong with a link', async () => {
    const page = await open('/#/join/too/short', { viewport: PHONE });
    await page.getByText('This invite link is incomplete').waitFor();
    await inOrder(page);
    await page.goto(`${base()}/`);
    await page.getByLabel('Your name').fill('  ');
    await page.getByRole('button', { name: 'Create room' }).click();
    await page.getByText('Enter a name.').waitFor();
    await page.getByRole('textbox', { name: 'Invite link' }).fill('https://example.org/');
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByText('This is not a complete invite link.').waitFor();
    await inOrder(page);
    await createRoom(page, 'Ada');
    let refusals = 0;
    await page.route('**/messages', async (route) => {
      if (refusals++ > 1) return route.fallback();
      const headers = { 'Retry-After': '1' };
      return route.fulfill({ status: 429, headers, json: { error: 'Too many messages', code: 'TOO_MANY_MESSAGES' } });
    });
    await sendText(page, 'patience');
    await page.getByText('Many messages in a short time').waitFor();
    await eventually(async () => expect(await page.locator('.message:not(.pending)').count()).to.equal(1));

    await page.route('**/messages', (route) => route.fulfill({ status: 413, json: { error: 'Too large' } }));
    await sendText(page, 'refused');
    await page.getByRole('button', { name: 'Discard' }).waitFor();
    await inOrder(page);
    await page.unroute('**/messages');
    await page.getByRole('button', { name: 'Try again' }).click();
    await eventually(async () => expect(await page.locator('.message:not(.pending)').count()).to.equal(2));
  });
});
