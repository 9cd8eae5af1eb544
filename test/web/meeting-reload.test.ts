/** The meeting page after reloading its tab: the same participant returns, unless they left or were removed. */
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { CONNECTING, FAKE_MEDIA, hasBrowser, startBrowser } from '../support/browser.js';
import { useMeeting } from '../support/meeting-node.js';
import { startProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { openTab, type Tab } from './meeting-page.js';

describe('reloading the meeting page', function () {
  this.timeout(240_000);
  const meetings = useMeeting();
  let browser: Browser;
  /** Ada's and Bob's. */
  const proxies: TcpProxy[] = [];
  let tabs: Tab[] = [];
  before(async function () {
    if (!hasBrowser) this.skip();
    browser = await startBrowser([...CONNECTING, ...FAKE_MEDIA]);
    for (let n = 0; n < 2; n++) proxies.push(await startProxy(Number(new URL(meetings.base).port)));
  });
  after(async () => {
    await browser?.close();
    for (const proxy of proxies) await proxy.close();
  });
  afterEach(async () => {
    for (const { page } of tabs) await page.context().close();
    expect(tabs.flatMap(({ complaints }) => complaints)).to.deep.equal([]);
    tabs = [];
  });

  async function two(options: Parameters<Tab['create']>[0] = {}) {
    const [first = '', second = ''] = proxies.map(({ port }) => `http://127.0.0.1:${port}`);
    const [ada, bob] = [await openTab(browser, first, 'Ada'), await openTab(browser, second, 'Bob')];
    tabs.push(ada, bob);
    const roomId = await ada.create(options);
    await bob.join(roomId, options);
    await bob.inside();
    return { ada, bob, roomId };
  }

  const own = ({ page }: Tab) => page.locator('.tile[data-state=own]');
  const stored = ({ page }: Tab) => page.evaluate<string>('JSON.stringify(sessionStorage)');

  it('returns as the same participant, still muted, without storing a password', async () => {
    const { ada, bob } = await two({ title: 'Planning', password: 'hunter22' });
    const id = await own(ada).getAttribute('data-id');
    await ada.button('Mute').click();
    await bob.open('People');
    await bob.who(/^Ada moderator muted$/).waitFor();
    expect(await stored(ada)).to.equal('{}');
    await ada.page.goto('about:blank');
    await ada.page.goBack();
    await ada.inside();
    expect(await own(ada).getAttribute('data-id')).to.equal(id);
    await ada.open('People');
    await ada.who(/^Ada you moderator muted$/).waitFor();
    await own(ada).getByText('muted', { exact: true }).waitFor({ state: 'attached' });
    await ada.page.getByRole('heading', { name: 'Planning' }).waitFor();
    await bob.who(/^Ada moderator muted$/).waitFor();
    await bob.sees('Ada');
    await ada.sees('Bob');
    await ada.send('Here again');
    await bob.reads('Here again');
  });

  it('stores no password while the page is hidden', async () => {
    const { ada, roomId } = await two({ password: 'hunter22' });
    const storedText = await ada.page.evaluate<string>(
      `dispatchEvent(new PageTransitionEvent('pagehide')), JSON.stringify(sessionStorage)`,
    );
    expect(storedText).to.include(roomId).and.to.include('resumeToken').and.not.to.include('hunter22');
  });

  it('returns to a locked meeting that it created, as moderator', async () => {
    const { ada } = await two();
    await ada.choose('Lock meeting');
    await ada.locked.waitFor();
    await ada.page.goto('about:blank');
    await ada.page.goBack();
    await ada.inside();
    await ada.locked.waitFor();
    await ada.open('People');
    await ada.who(/^Ada you moderator/).waitFor();
  });

  it('returns after a lost connection with queued messages, and is visible to others', async () => {
    const { ada, bob } = await two();
    await bob.sees('Ada');
    // One side offers the direct connection, the other answers it.
    for (const [tab, other, proxy] of [
      [ada, bob, proxies[0]!],
      [bob, ada, proxies[1]!],
    ] as const) {
      const id = await own(tab).getAttribute('data-id');
      proxy.interrupt();
      await tab.away.waitFor();
      await tab.send(`Typed before the reload of ${id}`);
      // Only the reloaded page may reconnect.
      await tab.page.evaluate('window.WebSocket = class {}');
      proxy.restore();
      await tab.page.reload();
      await tab.inside();
      expect(await own(tab).getAttribute('data-id')).to.equal(id);
      await other.reads(`Typed before the reload of ${id}`);
      await bob.sees('Ada');
      await ada.sees('Bob');
    }
  });

  it('fills in the form when the return period is over', async () => {
    const { ada, roomId } = await two();
    // Another user of the same browser has stored a name.
    await ada.page.evaluate(`localStorage.setItem('meeting.name', '"Grace"')`);
    const { page } = ada;
    const base = page.url();
    await page.goto('about:blank');
    await page.clock.setSystemTime(Date.now() + 21_000);
    await page.goto(base);
    await ada.inLobby();
    expect(await page.getByLabel('Your name').inputValue()).to.equal('Ada');
    expect(await page.getByLabel('Meeting id').inputValue()).to.equal(roomId);
    await ada.button('Join').click();
    await ada.inside();
  });

  it('does not return after leaving or being removed', async () => {
    const { ada, bob } = await two();
    await ada.act('Bob', 'Remove');
    await ada.button('Remove').click();
    await bob.seesError(/removed you/);
    await ada.button('Leave').click();
    await ada.seesError(/You have left the meeting/);
    for (const tab of [ada, bob]) {
      await tab.inLobby();
      let joins = 0;
      tab.page.on('websocket', () => joins++);
      await tab.page.reload({ waitUntil: 'networkidle' });
      expect(await tab.page.locator('main.lobby').isVisible()).to.equal(true);
      expect(joins).to.equal(0);
    }
  });
});
