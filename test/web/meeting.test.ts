/** The meeting page in real browsers: video, chat, files, waiting room, moderation and reconnecting. */
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { accessible, CONNECTING, FAKE_MEDIA, hasBrowser, startBrowser } from '../support/browser.js';
import { enterRoom } from '../support/meeting-client.js';
import { useMeeting } from '../support/meeting-node.js';
import { openTab, type Tab, type Video } from './meeting-page.js';

describe('meeting page', function () {
  this.timeout(240_000);
  const meetings = useMeeting({ '--meeting-connect-per-minute': '100000' });
  let browser: Browser;
  let tabs: Tab[] = [];
  before(async function () {
    if (!hasBrowser) this.skip();
    browser = await startBrowser([...CONNECTING, ...FAKE_MEDIA]);
  });
  after(() => browser?.close());
  afterEach(async () => {
    for (const { page } of tabs) await page.context().close();
    expect(tabs.flatMap(({ complaints }) => complaints)).to.deep.equal([]);
    tabs = [];
  });

  async function open(name: string, base = meetings.base, options = {}) {
    const tab = await openTab(browser, base, name, options);
    tabs.push(tab);
    return tab;
  }

  async function two(options: Parameters<Tab['create']>[0] = {}) {
    const [ada, bob] = [await open('Ada'), await open('Bob')];
    const roomId = await ada.create(options);
    await bob.join(roomId, options);
    await bob.inside();
    return { ada, bob, roomId };
  }

  const picture = async ({ page }: Tab, name: string) =>
    process.env.SCREENSHOTS && page.screenshot({ path: `${process.env.SCREENSHOTS}/meeting-${name}.png` });

  it('connects two tabs with video and chat', async () => {
    const { ada, bob } = await two({ title: 'Planning' });
    await ada.sees('Bob');
    await bob.sees('Ada');
    const width = await bob
      .tile('Ada')
      .locator('video')
      .evaluate((video) => (video as unknown as Video).videoWidth);
    expect(width).to.be.greaterThan(0);
    await ada.page.getByRole('heading', { name: 'Planning' }).waitFor();
    await picture(ada, 'inside');
  });

  it('shows chat messages as text, with the message they reply to', async () => {
    const { ada, bob } = await two();
    await ada.send('Is <b>this</b> text?');
    await bob.reads('Is <b>this</b> text?');
    await bob.button('Reply to Ada').click();
    await bob.send('It is');
    await ada.reads('It is');
    await ada.page.locator('[role=log] blockquote', { hasText: 'Ada: Is <b>this</b> text?' }).waitFor();
    // Who writes on is named once.
    await bob.send('and this, too');
    await ada.reads('and this, too');
    const names = ada.page.locator('[role=log] .message .head > :not(.unseen) > strong');
    expect(await names.allTextContents()).to.deep.equal(['Ada', 'Bob']);
  });

  it('is accessible: the log contains a list, and axe finds no violations', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const ada = await open('Ada', meetings.base, { colorScheme });
      await accessible(ada.page);
      const roomId = await ada.create();
      for (const text of ['one', 'two']) await ada.send(text);
      await ada.reads('two');
      const items = ada.page.getByRole('log').getByRole('list').getByRole('listitem');
      await items.filter({ hasText: 'two' }).waitFor();
      await accessible(ada.page);
      await ada.choose('Lock meeting');
      const bob = await open('Bob', meetings.base, { colorScheme });
      await bob.join(roomId);
      await ada.button('Admit: Bob').waitFor();
      await accessible(ada.page);
      await accessible(bob.page);
      await ada.open('People');
      await accessible(ada.page);
    }
  });

  it('transfers a file unchanged', async () => {
    const { ada, bob } = await two();
    const sent = randomBytes(300_000);
    await ada.sendFile('Bob', 'plan.bin', sent);
    expect((await bob.saves('plan.bin')).equals(sent)).to.equal(true);
    await ada.open('Chat');
    await ada.page.locator('.file[data-status=done]').waitFor();
  });

  it('transfers an empty file, and shows a declined one', async () => {
    const { ada, bob } = await two();
    await ada.sendFile('Bob', 'empty', Buffer.alloc(0));
    expect(await bob.saves('empty')).to.have.length(0);
    await ada.sendFile('Bob', 'unwanted', Buffer.alloc(9));
    await bob.button('Decline').click();
    await ada.open('Chat');
    await ada.page.locator('.file[data-status=declined]', { hasText: 'unwanted' }).waitFor();
  });

  it('isolates names and file names of others, and fails a file with invalid chunks', async () => {
    const ada = await open('Ada');
    const roomId = await ada.create();
    const mallory = await enterRoom(meetings.base, roomId, 'Ada (you) \u202e· moderator');
    await ada.open('People');
    const row = ada.page.locator(`.person[data-id="${mallory.id}"] .who`);
    await row.waitFor();
    expect(await row.locator('bdi').textContent()).to.equal('Ada (you) · moderator');
    expect(await row.locator('.mark').count()).to.equal(0);
    const own = ada.page.locator('.person .who', { has: ada.page.locator('.mark') });
    expect(await own.locator('.mark').allTextContents()).to.deep.equal(['you', 'moderator']);
    const targetId = String(mallory.inbox.find(({ name }) => name === 'Ada')?.participantId);
    const file = { targetId, transferId: 'of-mallory' };
    mallory.send('file-offer', { ...file, fileName: 'bill\u202efdp.exe', fileSize: 9, fileType: '' });
    await ada.open('Chat');
    const line = ada.page.locator('.file', { hasText: 'billfdp.exe' });
    await line.getByRole('button', { name: 'Accept' }).click();
    await mallory.waitFor('file-answer');
    mallory.send('file-chunk', { ...file, chunk: '%%%', index: 0, total: 1 });
    await line.and(ada.page.locator('[data-status=failed]')).waitFor();
    await picture(ada, 'names');
    mallory.socket.terminate();
  });

  it('keeps participants of a locked room waiting until a moderator admits them', async () => {
    const { ada, roomId } = await two();
    await ada.choose('Lock meeting');
    await ada.locked.waitFor();
    const [cy, dan] = [await open('Cy'), await open('Dan')];
    await cy.join(roomId);
    await cy.page.getByRole('heading', { name: 'Please wait' }).waitFor();
    await picture(cy, 'waiting');
    await ada.button('Admit: Cy').waitFor();
    await picture(ada, 'admitting');
    await ada.button('Admit: Cy').click();
    await cy.inside();
    await cy.sees('Ada');
    await cy.locked.waitFor();
    await dan.join(roomId);
    await ada.button('Reject: Dan').click();
    await ada.page.getByLabel('Reason for rejecting Dan').fill('This is about you.');
    await ada.button('Reject').click();
    await dan.seesError(/not admitted.*This is about you\./);
    await dan.join(roomId);
    await dan.page.getByRole('heading', { name: 'Please wait' }).waitFor();
    await ada.choose('Unlock meeting');
    await dan.inside();
  });

  it('shows raised hands, reactions, muted and hidden participants, and recordings', async () => {
    const { ada, bob } = await two();
    await bob.button('Raise hand').click();
    await bob.button('Mute').click();
    await bob.button('Stop video').click();
    await ada.open('People');
    await ada.who(/^Bob muted camera off hand raised$/).waitFor();
    await ada.tile('Bob muted').locator('.initials').waitFor();
    await ada.tile('Bob').getByText('hand raised, number 1').waitFor({ state: 'attached' });
    await bob.button('React').click();
    await bob.button('React: party').click();
    await ada.tile('Bob').locator('.reaction', { hasText: '🎉' }).waitFor();
    await bob.button('Lower hand').click();
    await ada.who(/^Bob muted camera off$/).waitFor();
    await ada.choose('Announce recording');
    await bob.recording.and(bob.page.getByText('Recorded by Ada')).waitFor();
    await ada.choose('End recording');
    await bob.recording.waitFor({ state: 'hidden' });
    await ada.choose('Announce recording');
    await bob.recording.waitFor();
    await ada.button('Leave').click();
    await bob.recording.waitFor({ state: 'hidden' });
  });

  it('lets only moderators mute, promote and remove', async () => {
    const { ada, bob } = await two();
    expect(await (await bob.actionsOn('Ada')).allInnerTexts()).to.deep.equal(['Send file', 'Pin']);
    await bob.page.keyboard.press('Escape');
    await ada.act('Bob', 'Mute');
    await bob.reads('Ada muted you.');
    await bob.button('Unmute').waitFor();
    await ada.act('Bob', 'Make moderator');
    await bob.reads('You are a moderator now.');
    await bob.act('Ada', 'Remove');
    await bob.button('Remove').click();
    await ada.seesError(/A moderator removed you/);
    await bob.reads('Ada left.');
  });

  it('explains why somebody cannot join', async () => {
    const ada = await open('Ada');
    await ada.join('NOSUCH');
    await ada.seesError(/does not exist/);
    await picture(ada, 'lobby');
    const roomId = await ada.create({ password: 'secret', most: 2 });
    const [bob, cy] = [await open('Bob'), await open('Cy')];
    await bob.join(roomId, { password: 'wrong' });
    await bob.seesError(/Wrong password/);
    await bob.join(roomId, { password: 'secret' });
    await bob.inside();
    await cy.join(roomId, { password: 'secret' });
    await cy.seesError(/full/);
    await bob.button('Leave').click();
    await ada.reads('Bob left.');
    await cy.join(roomId, { password: 'secret' });
    await cy.inside();
  });

  it('creates, leaves and rejoins a meeting with the keyboard alone', async () => {
    const ada = await open('Ada');
    const { keyboard } = ada.page;
    await ada.page.getByLabel('Your name').focus();
    // Title, options and button of a new meeting; then the id.
    for (const key of ['Tab', 'Tab', 'Tab', 'Tab']) await keyboard.press(key);
    await keyboard.type('keys22');
    // The button; the options, which open; then password, creator token and checkbox.
    for (const key of ['Tab', 'Tab', 'Enter', 'Tab', 'Tab', 'Tab', 'Space', 'Enter']) await keyboard.press(key);
    await ada.inside();
    expect(await ada.roomId()).to.equal('KEYS22');
    await ada.button('Leave').focus();
    await keyboard.press('Enter');
    await ada.inLobby();
    await ada.page.getByLabel('Meeting id').focus();
    await keyboard.press('Enter');
    await ada.inside();
  });

  it('fits a phone, in light and dark mode', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const phone = { viewport: { width: 390, height: 780 }, colorScheme };
      const ada = await open('Ada Lovelace of London', meetings.base, phone);
      const width = () => ada.page.evaluate('document.documentElement.scrollWidth');
      expect(await width()).to.equal(390);
      await ada.create({ title: 'A title that is rather longer than a phone is wide' });
      await ada.send('x'.repeat(200));
      await ada.reads('x'.repeat(200));
      expect(await width()).to.equal(390);
      expect(await ada.button('Leave').isVisible()).to.equal(true);
      await picture(ada, `phone-${colorScheme}`);
    }
  });
});
