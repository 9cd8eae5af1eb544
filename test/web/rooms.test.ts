/** Encrypted rooms in a real browser: two people from the invite to the burning, and what the service gets to see. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import type { Page, Request } from 'playwright-core';
import {
  choose,
  createRoom,
  inOrder,
  inviteLink,
  joinBy,
  PHONE,
  picture,
  reads,
  sendText,
  useRooms,
} from './rooms-page.js';

const stored = (page: Page, store: string) =>
  page.evaluate<number>(`new Promise((resolve, reject) => {
    const opening = indexedDB.open('annals-rooms');
    opening.onerror = reject;
    opening.onsuccess = () => {
      const counting = opening.result.transaction('${store}').objectStore('${store}').count();
      counting.onsuccess = () => { opening.result.close(); resolve(counting.result); };
    };
  })`);

describe('rooms page', function () {
  this.timeout(120_000);
  const { open, openTab, base } = useRooms();

  it('lets two people talk, and sends the service nothing that it could read', async () => {
    const ada = await open('/', { colorScheme: 'light' });
    const sent: string[] = [];
    const record = (request: Request) => sent.push(`${request.url()} ${request.postData() ?? ''}`);
    ada.on('request', record);
    await inOrder(ada);
    await picture(ada, 'start');
    await createRoom(ada, 'Ada Lovelace', 'Contract talk');
    await inOrder(ada);
    const link = await inviteLink(ada, 'Charles');

    const bob = await open('/', { viewport: PHONE, colorScheme: 'dark' });
    bob.on('request', record);
    await bob.getByRole('textbox', { name: 'Invite link' }).fill(`Come in: ${link}\nAda`);
    await bob.getByRole('button', { name: 'Open' }).click();
    await bob.getByRole('heading', { name: 'Join “Contract talk”' }).waitFor();
    await bob.getByText('Ada Lovelace invites you.').waitFor();
    await inOrder(bob);
    await picture(bob, 'join-phone-dark');
    await joinBy(bob, 'Charles Babbage');
    expect(bob.url()).not.to.contain('join');
    await reads(ada, 'Charles Babbage joined');
    await sendText(ada, 'Have you read the draft at https://example.org/draft?');
    await reads(bob, 'Have you read the draft');
    await sendText(
      bob,
      '```\nstore(card, "a line that is longer than the screen of a phone is wide, and scrolls")\n```',
    );
    await sendText(bob, 'Section 4 worries me.');
    await reads(ada, 'Section 4 worries me.');
    expect(await bob.getByRole('link', { name: 'https://example.org/draft' }).getAttribute('rel')).to.contain(
      'noreferrer',
    );
    for (const page of [ada, bob])
      await eventually(async () => expect(await page.locator('.message').count()).to.equal(3));

    // Replies lead to their message.
    await bob.getByRole('button', { name: 'Reply' }).first().click();
    await sendText(bob, 'Yes, twice.');
    await ada.locator('.quoted', { hasText: 'Have you read the draft' }).waitFor();

    await ada.getByRole('button', { name: 'People', exact: true }).click();
    await ada.getByText('by your link “Charles”').waitFor();
    await inOrder(ada);
    await ada.getByRole('button', { name: /^Charles Babbage/ }).click();
    const digits = await ada.locator('.fingerprint').textContent();
    expect(digits).to.match(/^\d{30}$/);
    await inOrder(ada);
    await ada.getByRole('button', { name: 'The digits match' }).click();
    await ada.keyboard.press('Escape');
    await ada.locator('.verification.verified').waitFor();

    // The inviter is vouched for by the link; one's own digits are those that the others see.
    await bob.getByRole('button', { name: 'People', exact: true }).click();
    await bob.locator('.verification.verified').waitFor();
    await bob.getByRole('button', { name: /^Charles Babbage/ }).click();
    expect(await bob.locator('.fingerprint').textContent()).to.equal(digits);
    await bob.keyboard.press('Escape');
    await bob.getByRole('button', { name: 'Close' }).click();

    await ada.getByRole('button', { name: 'What the server sees' }).click();
    await ada.getByText('You see: Yes, twice.').waitFor();
    await inOrder(ada);
    await picture(ada, 'server');
    await bob.getByRole('button', { name: 'What the server sees' }).click();
    await inOrder(bob);
    await picture(bob, 'server-phone-dark');
    await bob.getByRole('button', { name: 'Close' }).click();
    await inOrder(bob);
    await picture(bob, 'phone-dark');

    const key = link.split('/').at(-1)?.split('?')[0] ?? '';
    expect(key).to.have.length(43);
    const readable = /Lovelace|Babbage|Contract|draft|store|Section|twice/;
    expect(sent.filter((each) => readable.test(each) || each.includes(key))).to.deep.equal([]);
    expect(sent.some((each) => each.includes('ciphertext'))).to.equal(true);
  });

  it('comes back after a reload, and keeps what was typed and not sent', async () => {
    const ada = await open();
    const roomId = await createRoom(ada, 'Ada');
    const bob = await open(await inviteLink(ada));
    await joinBy(bob, 'Bob');
    await sendText(bob, 'hello');
    await reads(ada, 'hello');

    await ada.context().route('**/messages', (route) => route.abort());
    await sendText(ada, 'written offline');
    await ada.locator('.message.pending', { hasText: 'written offline' }).waitFor();
    await ada.getByText('Not connected.').waitFor();
    await ada.getByLabel('Message', { exact: true }).fill('half a thought');
    await eventually(async () => expect(await stored(ada, 'outbox')).to.equal(1));
    await ada.reload();
    await ada.locator('.message.pending', { hasText: 'written offline' }).waitFor();
    await reads(ada, 'hello');
    expect(await ada.getByLabel('Message', { exact: true }).inputValue()).to.equal('half a thought');
    await inOrder(ada);

    // Two tabs send it once.
    const second = await openTab(ada, `/#/room/${roomId}`);
    await second.locator('.message.pending', { hasText: 'written offline' }).waitFor();
    await ada.context().unroute('**/messages');
    for (const page of [ada, second]) {
      await page.evaluate('dispatchEvent(new Event("online"))');
      await eventually(async () => expect(await page.locator('.message.pending').count()).to.equal(0));
    }
    await reads(bob, 'written offline');
    await sendText(second, 'from the second tab');
    await reads(ada, 'from the second tab');
    await reads(bob, 'from the second tab');
    expect(await bob.getByText('written offline').count()).to.equal(1);
    expect(await bob.locator('.fault').count()).to.equal(0);
    await eventually(async () => expect(await stored(ada, 'outbox')).to.equal(0));

    await ada.goto(`${base()}/`);
    await ada.getByRole('link', { name: /Untitled room/ }).click();
    await reads(ada, 'from the second tab');
  });

  it('burns for everyone, and leaves no key behind', async () => {
    const ada = await open();
    const roomId = await createRoom(ada, 'Ada');
    const link = await inviteLink(ada);
    const bob = await open(link);
    await joinBy(bob, 'Bob');
    const used = await open(link);
    await used.getByLabel('Your name').fill('Eve');
    await used.getByRole('button', { name: 'Join' }).click();
    await used.getByText('This invite was used already').waitFor();
    await sendText(bob, 'for your eyes only');
    await reads(ada, 'for your eyes only');

    await choose(ada, 'Burn the room…');
    await inOrder(ada);
    await ada.getByRole('button', { name: 'Burn', exact: true }).click();
    for (const page of [ada, bob]) {
      await page.getByText('The room was burned').waitFor();
      expect(await page.getByText('for your eyes only').count()).to.equal(0);
      await eventually(async () => expect(await stored(page, 'rooms')).to.equal(0));
      expect(await page.evaluate('sessionStorage.length')).to.equal(0);
      await inOrder(page);
    }
    expect((await fetch(`${base()}/rooms/${roomId}/state`)).status).to.equal(404);
    await bob.reload();
    await bob.getByText('This device has no key for this room').waitFor();
    await inOrder(bob);
  });

  it('catches up after the connection was away', async () => {
    const ada = await open();
    await createRoom(ada, 'Ada');
    const bob = await open(await inviteLink(ada));
    await joinBy(bob, 'Bob');
    await reads(ada, 'Bob joined');
    await ada.context().setOffline(true);
    await ada.getByText('Not connected.').waitFor();
    await sendText(bob, 'while you were away');
    await bob.locator('.message:not(.pending)').waitFor();
    await sendText(ada, 'typed without a connection');
    await ada.context().setOffline(false);
    await reads(ada, 'while you were away');
    await reads(bob, 'typed without a connection');
    await eventually(async () => expect(await ada.locator('.banner').count()).to.equal(0));
    expect(await ada.locator('.fault').count()).to.equal(0);
  });

  it('works by keyboard, and says so where browsers do not encrypt', async () => {
    const ada = await open('/', { viewport: { width: 320, height: 640 } });
    await createRoom(ada, 'Ada');
    await ada.keyboard.type('first');
    await ada.keyboard.press('Enter');
    await ada.keyboard.type('second');
    await ada.keyboard.press('Shift+Enter');
    await ada.keyboard.type('line');
    await ada.keyboard.press('Enter');
    await eventually(async () => expect(await ada.locator('.message:not(.pending)').count()).to.equal(2));
    // From the field back to the actions of the last message, up to the first one, and reply.
    for (let presses = 0; presses < 4 && !(await ada.locator('.message-actions :focus').count()); presses++)
      await ada.keyboard.press('Shift+Tab');
    await ada.keyboard.press('ArrowUp');
    await ada.getByRole('button', { name: 'Reply' }).first().press('Enter');
    await ada.getByText('Reply to You').waitFor();
    await inOrder(ada);
    await ada.keyboard.press('Escape');
    await eventually(async () => expect(await ada.getByText('Reply to You').count()).to.equal(0));
    await ada.getByRole('button', { name: 'Room menu' }).click();
    // At once, not with the next frame: a key in between would reach the page.
    await ada.getByRole('menuitem', { name: 'Change the topic…' }).waitFor();
    const isOpen = await ada.evaluate(`new Promise((resolve) => {
      const items = [...document.querySelectorAll('[role=menuitem]')];
      items.find(({ textContent }) => textContent.includes('Change the topic')).click();
      setTimeout(() => resolve(document.querySelector('dialog')?.open));
    })`);
    expect(isOpen).to.equal(true);
    await ada.keyboard.press('Escape');
    await ada.getByRole('button', { name: 'People', exact: true }).press('Enter');
    await inOrder(ada);
    await ada.keyboard.press('Escape');
    await ada.locator('.panel').waitFor({ state: 'detached' });

    await ada.addInitScript('Object.defineProperty(crypto, "subtle", { value: undefined })');
    await ada.reload();
    await ada.getByText('This page needs a secure connection').waitFor();
    await inOrder(ada);
  });

  it('ends when the time is up', async () => {
    const ada = await open();
    await ada.route('**/rooms', async (route) => {
      const body = route.request().postDataJSON();
      await route.continue({ postData: JSON.stringify({ ...body, ttlMs: 15_000 }) });
    });
    await createRoom(ada, 'Ada');
    await ada
      .getByRole('timer')
      .filter({ hasText: /0:\d\d left/ })
      .waitFor();
    await inOrder(ada);
    await ada.getByText('The time of the room is up').waitFor();
    expect(await stored(ada, 'rooms')).to.equal(0);
  });
});
