/** People, chat and files of the meeting page: panels, raised hands in order, files by drag, and what a reload keeps. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import type { Browser, Locator } from 'playwright-core';
import { accessible, CONNECTING, FAKE_MEDIA, hasBrowser, startBrowser } from '../support/browser.js';
import { enterRoom } from '../support/meeting-client.js';
import { useMeeting } from '../support/meeting-node.js';
import { openTab, type Tab } from './meeting-page.js';

describe('panels of the meeting page', function () {
  this.timeout(240_000);
  const meetings = useMeeting();
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

  async function open(name: string, options = {}) {
    const tab = await openTab(browser, meetings.base, name, options);
    tabs.push(tab);
    return tab;
  }

  async function two(options = {}) {
    const [ada, bob] = [await open('Ada', options), await open('Bob')];
    const roomId = await ada.create();
    await bob.join(roomId);
    await bob.inside();
    return { ada, bob, roomId };
  }

  /** Drags a file over the page and drops it there. */
  async function drop(target: Locator, name: string, text: string) {
    const data = await target
      .page()
      .evaluateHandle(
        `(() => { const data = new DataTransfer(); data.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)})); return data; })()`,
      );
    for (const type of ['dragenter', 'dragover', 'drop']) await target.dispatchEvent(type, { dataTransfer: data });
  }

  const row = ({ page }: Tab, name: string) =>
    page.locator('.person', { has: page.locator('.who', { hasText: name }) });

  it('sends a file dropped on a person to them alone, and one dropped elsewhere to everyone', async () => {
    const { ada, bob, roomId } = await two();
    const cy = await open('Cy');
    await cy.join(roomId);
    await cy.inside();
    await ada.open('People');
    await ada.tile('Cy').waitFor();
    await drop(row(ada, 'Bob'), 'for-bob.txt', 'Hello Bob');
    await drop(ada.tile('Cy'), 'for-cy.txt', 'Hello Cy');
    await drop(ada.page.getByLabel('Pictures'), 'for-all.txt', 'Hello all');
    expect((await bob.saves('for-bob.txt')).toString()).to.equal('Hello Bob');
    expect((await cy.saves('for-cy.txt')).toString()).to.equal('Hello Cy');
    expect((await bob.saves('for-all.txt')).toString()).to.equal('Hello all');
    expect((await cy.saves('for-all.txt')).toString()).to.equal('Hello all');
    await ada.open('Chat');
    await ada.page
      .locator('.file', { hasText: 'for-all.txt to everyone' })
      .and(ada.page.locator('[data-status=done]'))
      .waitFor();
    expect(await bob.page.getByText('for-cy.txt').count()).to.equal(0);
    // A drop beside all targets does not replace the page.
    await drop(ada.page.locator('.bar'), 'lost.txt', '');
    expect(await ada.page.locator('.file').count()).to.equal(3);
  });

  it('lists raised hands in their order, for newcomers too', async () => {
    const { ada, bob, roomId } = await two();
    const guests = [await enterRoom(meetings.base, roomId, 'Grace'), await enterRoom(meetings.base, roomId, 'Radia')];
    const hands = ({ page }: Tab) => page.getByRole('region', { name: 'Raised hands' }).getByRole('listitem');
    await ada.open('People');
    await guests[1]!.send('raise-hand');
    await hands(ada).nth(0).waitFor();
    await bob.button('Raise hand').click();
    await hands(ada).nth(1).waitFor();
    await guests[0]!.send('raise-hand');
    await hands(ada).nth(2).waitFor();
    expect(await hands(ada).allTextContents()).to.deep.equal(['Radia', 'Bob', 'Grace']);
    await accessible(ada.page);
    await guests[1]!.send('lower-hand');
    await eventually(async () => (await hands(ada).count()) === 2);
    expect(await hands(ada).allTextContents()).to.deep.equal(['Bob', 'Grace']);
    await ada.tile('Bob').getByText('hand raised, number 1').waitFor({ state: 'attached' });
  });

  it('shows what is new while the chat is closed, and opens it', async () => {
    const { ada, bob } = await two();
    await bob.send('Look here');
    const chat = ada.page.getByRole('toolbar').getByRole('button', { name: 'Chat 1 new', exact: true });
    await chat.waitFor();
    await accessible(ada.page);
    await ada.button('Show').click();
    await ada.page.getByRole('complementary', { name: 'Chat' }).getByText('Look here').waitFor();
    await ada.button('Chat').waitFor();
    await ada.page.getByLabel('Message', { exact: true }).fill('Not finished');
    await ada.page.keyboard.press('Escape');
    await ada.page.getByRole('complementary').waitFor({ state: 'detached' });
    await ada.open('Chat');
    expect(await ada.page.getByLabel('Message', { exact: true }).inputValue()).to.equal('Not finished');
    await ada.page.reload();
    await ada.inside();
    await ada.open('Chat');
    expect(await ada.page.getByLabel('Message', { exact: true }).inputValue()).to.equal('Not finished');
  });

  it('writes several lines, links addresses, and refuses texts that are too long', async () => {
    const { ada, bob } = await two();
    await ada.open('Chat');
    const field = ada.page.getByLabel('Message', { exact: true });
    await field.fill('See https://example.org/a?b=1.');
    await field.press('Shift+Enter');
    await field.pressSequentially('Second line');
    await field.press('Enter');
    await bob.open('Chat');
    const link = bob.page.getByRole('link', { name: 'https://example.org/a?b=1', exact: true });
    await link.waitFor();
    expect(await bob.page.locator('[role=log] .text').textContent()).to.equal(
      'See https://example.org/a?b=1.\nSecond line',
    );
    await field.fill('x'.repeat(2003));
    await ada.page.getByText('3 characters too long').waitFor();
    await field.press('Enter');
    expect(await field.inputValue()).to.have.length(2003);
  });

  it('covers the stage of a phone with a panel, and keeps the controls in reach', async () => {
    const phone = { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true };
    const { ada, bob } = await two(phone);
    await ada.open('People');
    await accessible(ada.page);
    const panel = (await ada.page.getByRole('complementary').boundingBox())!;
    expect(panel.width).to.equal(390);
    for (const name of ['Mute', 'Stop video', 'Raise hand', 'More', 'Leave']) {
      const { y, height, width } = (await ada.button(name).boundingBox())!;
      expect(Math.min(width, height), name).to.be.at.least(44);
      expect(y + height, name)
        .to.be.at.most(780)
        .and.at.least(720);
    }
    await ada.act('Bob', 'Mute');
    await bob.button('Unmute').waitFor();
    await ada.button('Close people').click();
    await ada.choose('React');
    await ada.button('React: heart').click();
    await bob.tile('Ada').locator('.reaction').waitFor();
    await accessible(ada.page);
    expect(await ada.page.evaluate('document.documentElement.scrollWidth')).to.equal(390);
  });

  it('is controlled by keys, unless a field has the focus', async () => {
    const { ada, bob } = await two();
    const { keyboard } = ada.page;
    await bob.open('People');
    await keyboard.press('m');
    await bob.who(/^Ada moderator muted$/).waitFor();
    await keyboard.down('Space');
    await bob.who(/^Ada moderator$/).waitFor();
    await keyboard.up('Space');
    await bob.who(/^Ada moderator muted$/).waitFor();
    await keyboard.press('h');
    await bob.who(/^Ada moderator muted hand raised$/).waitFor();
    await keyboard.press('c');
    await ada.page.getByLabel('Message', { exact: true }).fill('mhv');
    await keyboard.press('m');
    expect(await ada.page.getByLabel('Message', { exact: true }).inputValue()).to.equal('mhvm');
    await keyboard.press('Escape');
    await keyboard.press('?');
    await ada.page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await keyboard.press('Escape');
    await ada.choose('Keyboard shortcuts');
    await accessible(ada.page);
    await ada.page.getByLabel('Use keyboard shortcuts').uncheck();
    await keyboard.press('Escape');
    await keyboard.press('h');
    await keyboard.press('m');
    await ada.button('Unmute').waitFor();
    await bob.who(/^Ada moderator muted hand raised$/).waitFor();
  });
});
