/** The meeting page without a connection: typed messages are kept, and announcements are not repeated. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { accessible, CONNECTING, FAKE_MEDIA, hasBrowser, startBrowser } from '../support/browser.js';
import { useMeeting } from '../support/meeting-node.js';
import { startProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { openTab, type Tab } from './meeting-page.js';

describe('meeting page without a connection', function () {
  this.timeout(240_000);
  const meetings = useMeeting();
  let browser: Browser;
  let proxy: TcpProxy;
  let tabs: Tab[] = [];
  before(async function () {
    if (!hasBrowser) this.skip();
    browser = await startBrowser([...CONNECTING, ...FAKE_MEDIA]);
    proxy = await startProxy(Number(new URL(meetings.base).port));
  });
  after(async () => {
    await browser?.close();
    await proxy?.close();
  });
  afterEach(async () => {
    proxy.restore();
    for (const { page } of tabs) await page.context().close();
    expect(tabs.flatMap(({ complaints }) => complaints)).to.deep.equal([]);
    tabs = [];
  });

  async function open(name: string, base = meetings.base, options = {}) {
    const tab = await openTab(browser, base, name, options);
    tabs.push(tab);
    return tab;
  }

  /** Ada's connection can be cut; Bob's cannot. */
  async function two(options: Parameters<Tab['create']>[0] = {}, base = `http://127.0.0.1:${proxy.port}`) {
    const [ada, bob] = [await open('Ada', base), await open('Bob')];
    const roomId = await ada.create(options);
    await bob.join(roomId, options);
    await bob.inside();
    await ada.reads('Bob joined.');
    return { ada, bob, roomId };
  }

  async function cut({ away }: Tab) {
    proxy.interrupt();
    await away.waitFor();
  }

  async function returns({ away }: Tab) {
    proxy.restore();
    await away.waitFor({ state: 'hidden' });
  }

  const lines = ({ lines }: Tab) => lines.allInnerTexts();
  const linesWith = async (tab: Tab, text: string) => (await lines(tab)).filter((line) => line.includes(text));
  const ownId = ({ page }: Tab) => page.locator('.tile[data-state=own]').getAttribute('data-id');
  const picture = async ({ page }: Tab, name: string) =>
    process.env.SCREENSHOTS && page.screenshot({ path: `${process.env.SCREENSHOTS}/meeting-${name}.png` });

  it('queues typed messages, shows them as waiting, and sends them in order', async () => {
    const { ada, bob } = await two();
    await cut(ada);
    for (const text of ['one', 'two', 'three']) await ada.send(text);
    const waiting = ada.outbox.getByRole('listitem');
    expect(await waiting.locator('.text').allInnerTexts()).to.deep.equal(['one', 'two', 'three']);
    await waiting.first().getByText('Will be sent when you are reconnected').waitFor();
    expect(await linesWith(ada, 'one')).to.deep.equal([]);
    await accessible(ada.page);
    await returns(ada);
    for (const tab of [ada, bob]) {
      await tab.reads('three');
      const texts = await tab.page.locator('[role=log] .text').allInnerTexts();
      expect(texts).to.deep.equal(['one', 'two', 'three']);
    }
    await ada.outbox.waitFor({ state: 'hidden' });
  });

  it('reports when the queue is full, and keeps the text in the field', async () => {
    const { ada, bob } = await two();
    await cut(ada);
    for (let n = 1; n <= 50; n++) await ada.send(`text ${n}`);
    await ada.send('one too many');
    await ada.page.getByText('Not sent: too many messages').waitFor();
    expect(await ada.page.getByLabel('Message', { exact: true }).inputValue()).to.equal('one too many');
    await returns(ada);
    await bob.reads('text 50');
    expect(await bob.page.locator('[role=log] .text').count()).to.equal(50);
  });

  it('marks a message of uncertain delivery, and sends it again on request', async () => {
    const silent = await startProxy(meetings.base);
    try {
      const { ada, bob } = await two({}, silent.url);
      silent.holdAnswers();
      await ada.send('Is this heard?');
      await bob.reads('Is this heard?');
      await ada.outbox.getByText('Sending…').waitFor();
      silent.releaseAnswers();
      await ada.outbox.getByText('May not have been sent').waitFor();
      await ada.away.waitFor({ state: 'hidden' });
      expect(await linesWith(bob, 'Is this heard?')).to.have.length(1);
      await ada.button('Send again').click();
      await ada.reads('Is this heard?');
      await ada.outbox.waitFor({ state: 'hidden' });
    } finally {
      await silent.close();
    }
  });

  it('shows unsent messages after leaving, and sends them after joining again', async () => {
    const { ada, bob, roomId } = await two();
    await cut(ada);
    await ada.send('Still to be said');
    await ada.button('Leave').click();
    await ada.page.getByRole('region', { name: 'Not sent' }).getByText('Still to be said').waitFor();
    await accessible(ada.page);
    await picture(ada, 'unsent');
    proxy.restore();
    await ada.join(roomId);
    await bob.reads('Still to be said');
    await ada.outbox.waitFor({ state: 'hidden' });
  });

  it('applies a raised hand and mute after reconnecting', async () => {
    const { ada, bob } = await two();
    const who = (text: RegExp) => bob.who(text).waitFor();
    await bob.open('People');
    await cut(ada);
    await ada.button('Raise hand').click();
    await ada.button('Mute').click();
    await returns(ada);
    await who(/^Ada moderator muted hand raised$/);
    await cut(ada);
    await ada.button('Lower hand').click();
    await ada.button('Unmute').click();
    await returns(ada);
    await who(/^Ada moderator$/);
    await ada.button('Raise hand').waitFor();
    await ada.button('Mute').waitFor();
  });

  it('reports other actions as not done', async () => {
    const { ada, bob } = await two();
    await cut(ada);
    await ada.choose('Lock meeting');
    await ada.page.getByText('Not done: you are offline.').waitFor();
    await ada.sendFile('Bob', 'plan.txt', Buffer.from('plan'));
    await ada.open('Chat');
    await ada.page.locator('.file[data-status=failed]', { hasText: 'plan.txt' }).waitFor();
    await returns(ada);
    expect(await bob.locked.isVisible()).to.equal(false);
  });

  it('does not repeat announcements', async () => {
    const { ada, bob } = await two();
    await ada.choose('Lock meeting');
    await ada.choose('Announce recording');
    await bob.reads('Ada announced a recording.');
    await ada.reads('You announced a recording.');
    const before = await lines(ada);
    let attempts = 0;
    ada.page.on('websocket', () => attempts++);
    await ada.page.evaluate(`window.changes = 0;
      new MutationObserver(() => window.changes++)
        .observe(document.querySelector('.notes'), { childList: true, characterData: true, subtree: true })`);
    await cut(ada);
    await eventually(() => attempts >= 2);
    expect(await ada.page.evaluate('window.changes')).to.equal(1);
    await returns(ada);
    // Longer than detecting departed participants takes.
    await bob.button('Leave').click();
    await ada.reads('Bob left.');
    expect(await lines(ada)).to.deep.equal([...before, 'Bob left.']);
  });

  it('announces once who left meanwhile', async () => {
    const { ada, bob } = await two();
    await cut(ada);
    await bob.button('Leave').click();
    await bob.inLobby();
    await returns(ada);
    await ada.reads('Bob left.');
    expect(await linesWith(ada, 'Bob left.')).to.have.length(1);
    await ada.tile('Bob').waitFor({ state: 'detached' });
  });

  it('can stop joining a service that cannot be reached', async () => {
    const ada = await open('Ada', `http://127.0.0.1:${proxy.port}`);
    proxy.interrupt();
    await ada.join('NOBODY');
    await ada.seesError(/Connection lost/);
    await accessible(ada.page);
    await ada.button('Cancel').click();
    proxy.restore();
    await ada.create();
  });

  it('connects to participants who joined meanwhile', async () => {
    const { ada, roomId } = await two();
    await cut(ada);
    const cy = await open('Cy');
    await cy.join(roomId);
    await cy.inside();
    await returns(ada);
    await ada.sees('Cy');
    await cy.sees('Ada');
  });

  it('shows a lost connection to others until it is restored', async () => {
    const { ada, bob } = await two();
    const id = await ownId(ada);
    await bob.open('Chat');
    const before = await lines(bob);
    await cut(ada);
    const mark = bob.tile('Ada').getByText('connection lost');
    await mark.waitFor();
    await bob.open('People');
    await bob.who('connection lost').waitFor();
    await accessible(bob.page);
    await picture(bob, 'lost');
    await returns(ada);
    await mark.waitFor({ state: 'detached' });
    expect(await ownId(ada)).to.equal(id);
    await bob.open('Chat');
    expect(await lines(bob)).to.deep.equal(before);
  });
});
