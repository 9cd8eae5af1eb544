/** Encrypted rooms in a real browser: a service that tampers, people who are removed, files, and limits. */
import { readFile } from 'node:fs/promises';
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { choose, createRoom, inOrder, inviteLink, joinBy, PHONE, picture, reads, say, useRooms } from './rooms-page.js';

interface Stored {
  readonly id: string;
  readonly senderId: string;
  readonly ciphertext: string;
}

/** Changes the state that the service sends to a page, from its next load on. */
const tamper = (page: Page, change: (messages: readonly Stored[]) => readonly Stored[]) =>
  page.route('**/state', async (route) => {
    const response = await route.fetch();
    const state = await response.json();
    await route.fulfill({ response, json: { ...state, messages: change(state.messages) } });
  });

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

describe('rooms page, against odds', function () {
  this.timeout(120_000);
  const { open, base } = useRooms();

  async function two(title = '') {
    const ada = await open();
    const roomId = await createRoom(ada, 'Ada', title);
    const bob = await open(await inviteLink(ada));
    await joinBy(bob, 'Bob');
    await reads(ada, 'Bob joined');
    return { ada, bob, roomId };
  }

  it('shows what a tampering service did, and rejects it', async () => {
    const { ada, bob } = await two();
    for (const text of ['one', 'two', 'three', 'four']) {
      await say(ada, text);
      await reads(bob, text);
    }
    await tamper(bob, (messages) => {
      const [one, two, three, four] = messages.slice(-4);
      const altered = { ...two!, ciphertext: `${two!.ciphertext[0] === 'A' ? 'B' : 'A'}${two!.ciphertext.slice(1)}` };
      const others = messages.slice(0, -4);
      const posed = {
        ...one!,
        id: 'posed',
        senderId: others.find(({ senderId }) => senderId !== one!.senderId)!.senderId,
      };
      return [...others, one!, { ...one!, id: 'again' }, altered, posed, four!].filter((each) => each !== three);
    });
    await bob.reload();
    await reads(bob, 'four');
    await bob.getByText('A repeated message of Ada rejected').waitFor();
    await bob.getByText('A message in the name of Ada rejected').waitFor();
    await bob.getByText('A message in your name rejected').waitFor();
    // The altered one does not count as arrived.
    await bob.getByText('2 messages of Ada did not arrive').waitFor();
    expect(await bob.getByText('two', { exact: true }).count()).to.equal(0);
    await inOrder(bob);
    await picture(bob, 'tampered');

    // Two people of one name are told apart.
    const other = await open(await inviteLink(ada));
    await joinBy(other, 'bob');
    await say(other, 'I am Bob');
    await ada
      .getByRole('log')
      .getByText(/^bob \(\d{5}\)$/)
      .waitFor();
  });

  it('changes the key without somebody, and lets them back in by a new link', async () => {
    const { ada, bob } = await two('Plans');
    const eve = await open(await inviteLink(ada));
    await joinBy(eve, 'Eve');
    await reads(ada, 'Eve joined');
    const old = await inviteLink(ada);
    await say(eve, 'I am reading along');
    await reads(ada, 'I am reading along');

    await ada.getByRole('button', { name: 'People', exact: true }).click();
    await ada.getByRole('button', { name: /^Eve/ }).click();
    await ada.getByRole('button', { name: 'Remove from the conversation…' }).click();
    await ada.getByRole('heading', { name: 'Remove Eve?' }).waitFor();
    await inOrder(ada);
    await ada.getByRole('button', { name: 'Change the key' }).click();
    await reads(ada, 'Eve cannot read new messages');
    await eve.getByText('The room key was changed without you').waitFor();
    await reads(bob, 'Eve cannot read new messages');
    await say(bob, 'now without Eve');
    await reads(ada, 'now without Eve');
    await eve.getByText(/encrypted with a room key that this device does not have/).waitFor();
    await inOrder(eve);
    await picture(eve, 'excluded');

    // A link from before the change lets in, but opens nothing new.
    const late = await open(old);
    await joinBy(late, 'Late');
    await late.getByText('The room key was changed without you').waitFor();
    await ada.getByRole('heading', { name: 'Without the room key' }).waitFor();

    for (const page of [ada, bob]) await page.reload();
    await reads(ada, 'now without Eve');
    await say(ada, 'still here');
    await reads(bob, 'still here');

    await eve.goto(await inviteLink(ada));
    await eve.getByText('You are in this room already.').waitFor();
    await reads(eve, 'now without Eve');
    await say(eve, 'back again');
    await reads(bob, 'back again');
    for (const page of [ada, bob, eve]) expect(await page.locator('.fault').count()).to.equal(0);

    await choose(bob, 'Change your name…');
    await inOrder(bob);
    await bob.getByRole('textbox', { name: 'Your name' }).fill('Robert');
    await bob.getByRole('button', { name: 'Change', exact: true }).click();
    await reads(eve, 'Bob is now Robert');
    await choose(bob, 'Leave the room…');
    await bob.getByRole('button', { name: 'Leave', exact: true }).click();
    await bob.getByText('You left the room').waitFor();
    await reads(eve, 'Robert left');
  });

  it('sends images without their metadata, and files, in parts', async () => {
    const { ada, bob } = await two();
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
    await say(page, 'patience');
    await page.getByText('Many messages in a short time').waitFor();
    await eventually(async () => expect(await page.locator('.message:not(.pending)').count()).to.equal(1));

    await page.route('**/messages', (route) => route.fulfill({ status: 413, json: { error: 'Too large' } }));
    await say(page, 'refused');
    await page.getByRole('button', { name: 'Discard' }).waitFor();
    await inOrder(page);
    await page.unroute('**/messages');
    await page.getByRole('button', { name: 'Try again' }).click();
    await eventually(async () => expect(await page.locator('.message:not(.pending)').count()).to.equal(2));
  });
});
