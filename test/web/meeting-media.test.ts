/** Camera, microphone, screen and stage of the meeting page, with a camera that moves and a microphone that beeps. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import type { Browser, Locator } from 'playwright-core';
import { accessible, CONNECTING, FAKE_MEDIA, hasBrowser, startBrowser } from '../support/browser.js';
import { enterRoom } from '../support/meeting-client.js';
import { useMeeting } from '../support/meeting-node.js';
import { startProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { openTab, type Tab, type Video } from './meeting-page.js';

describe('media of the meeting page', function () {
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

  async function two(base = meetings.base) {
    const [ada, bob] = [await open('Ada', base), await open('Bob')];
    const roomId = await ada.create({ most: 50 });
    await bob.join(roomId);
    await bob.inside();
    return { ada, bob, roomId };
  }

  const preview = ({ page }: Tab) => page.getByLabel('Preview of your camera');
  const framesOf = (video: Locator) =>
    video.evaluate((shown) => (shown as unknown as Video).getVideoPlaybackQuality().totalVideoFrames);
  async function moves(video: Locator) {
    await video.waitFor();
    const before = await framesOf(video);
    await eventually(async () => (await framesOf(video)) > before + 3);
  }
  const screenOf = ({ page }: Tab, name: string) => page.locator('.tile[data-kind=screen]', { hasText: name });
  /** Waits until the page plays sound from `count` sources. */
  const plays = ({ page }: Tab, count: number) =>
    eventually(async () => {
      const isHeard = 'each => !each.paused && each.srcObject.getAudioTracks().some(({ muted }) => !muted)';
      return (await page.evaluate(`[...document.querySelectorAll('audio')].filter(${isHeard}).length`)) === count;
    });
  const boxOf = async (tile: Locator) => (await tile.boundingBox())!;

  it('shows the camera before joining, and joins with what is on', async () => {
    const [ada, bob] = [await open('Ada'), await open('Bob')];
    await moves(preview(ada));
    await accessible(ada.page);
    await ada.button('Mute').click();
    await ada.button('Stop video').click();
    await ada.page.getByText('Your camera is off').waitFor();
    const roomId = await ada.create();
    await bob.join(roomId);
    await bob.inside();
    await bob.open('People');
    await bob.who(/^Ada moderator muted camera off$/).waitFor();
    await ada.button('Start video').click();
    await ada.button('Unmute').click();
    await bob.who(/^Ada moderator$/).waitFor();
    await bob.sees('Ada');
    // The next meeting begins as this one ended.
    await ada.button('Stop video').click();
    await ada.button('Leave').click();
    await ada.page.reload();
    await ada.button('Start video').waitFor();
  });

  it('turns on what is allowed only after joining', async () => {
    const bob = await open('Bob');
    const ada = await open('Ada');
    await ada.page.addInitScript(`
      const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
      navigator.mediaDevices.getUserMedia = async (wanted) => {
        await new Promise((allow) => { window.allow = allow; });
        return ask(wanted);
      };`);
    await ada.page.reload();
    await ada.page.getByText('Allow camera and microphone').waitFor();
    await ada.page.getByLabel('Your name').fill('Ada');
    await bob.join(await ada.create());
    await bob.open('People');
    await bob.who(/^Ada moderator muted camera off$/).waitFor();
    await ada.page.evaluate('window.allow()');
    await bob.who(/^Ada moderator$/).waitFor();
    await bob.sees('Ada');
  });

  it('says why there is no camera, and lets people in without', async () => {
    const ada = await open('Ada');
    await ada.page.addInitScript(`
      navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('', 'NotAllowedError'); };`);
    await ada.page.reload();
    await ada.page.getByLabel('Your name').fill('Ada');
    await ada.page
      .getByText(/does not allow this page to use the camera/)
      .first()
      .waitFor();
    await accessible(ada.page);
    await ada.create();
    await ada.button('Unmute').click();
    await ada.page.getByText(/does not allow this page to use the microphone/).waitFor();
    await ada.button('Unmute').waitFor();
  });

  it('changes the camera before and during the meeting', async () => {
    const ada = await open('Ada');
    await moves(preview(ada));
    const names = await ada.page.getByLabel('Camera', { exact: true }).locator('option').allTextContents();
    expect(names).to.have.length(3);
    await ada.page.getByLabel('Camera', { exact: true }).selectOption({ label: names[2]! });
    await moves(preview(ada));
    const bob = await open('Bob');
    await bob.join(await ada.create());
    await bob.sees('Ada');
    await ada.button('Choose camera').click();
    const chosen = ada.page.getByRole('menuitemcheckbox', { checked: true });
    expect(await chosen.textContent()).to.equal(names[2]);
    await ada.page.getByRole('menuitemcheckbox', { name: names[1]!, exact: true }).click();
    await bob.sees('Ada');
    await ada.choose('Camera and sound');
    await moves(preview(ada));
    await accessible(ada.page);
    await ada.button('Done').click();
  });

  it('shares screens with their sound: large for the others, for newcomers too, and of both at once', async () => {
    const { ada, bob, roomId } = await two();
    await bob.sees('Ada');
    await ada.button('Share screen').click();
    await moves(screenOf(bob, 'Screen of Ada').locator('video'));
    await plays(bob, 2);
    await screenOf(ada, 'Your screen').waitFor();
    const large = await boxOf(screenOf(bob, 'Screen of Ada'));
    expect(large.width).to.be.greaterThan(2 * (await boxOf(bob.tile('Ada'))).width);
    const cy = await open('Cy');
    await cy.join(roomId);
    await moves(screenOf(cy, 'Screen of Ada').locator('video'));
    await plays(cy, 3);
    // Three pages that encode two screens are too much for a small test machine.
    await cy.page.close();
    await accessible(bob.page);
    await bob.button('Share screen').click();
    await moves(screenOf(ada, 'Screen of Bob').locator('video'));
    await moves(screenOf(bob, 'Screen of Ada').locator('video'));
    await plays(ada, 2);
    await ada.button('Stop sharing').click();
    await screenOf(bob, 'Screen of Ada').waitFor({ state: 'detached' });
    await plays(bob, 1);
    await ada.button('Share screen').click();
    await moves(screenOf(bob, 'Screen of Ada').locator('video'));
    await bob.sees('Ada');
  });

  it('shows who speaks, in large if wanted', async () => {
    const { ada, bob } = await two();
    const speaks = bob.tile('Ada').and(bob.page.locator('[data-speaking]'));
    await speaks.waitFor();
    await bob.choose('Speaker view');
    await eventually(async () => (await boxOf(bob.tile('Ada'))).width > 2 * (await boxOf(bob.tile('Bob'))).width);
    await ada.button('Mute').click();
    await speaks.waitFor({ state: 'detached' });
    await bob.choose('Grid view');
    await eventually(async () => (await boxOf(bob.tile('Ada'))).width === (await boxOf(bob.tile('Bob'))).width);
  });

  it('keeps sound and picture while the connection to the service is lost', async () => {
    const { ada, bob } = await two(`http://127.0.0.1:${proxy.port}`);
    await bob.sees('Ada');
    await ada.sees('Bob');
    proxy.interrupt();
    await ada.away.waitFor();
    await moves(bob.tile('Ada').locator('video'));
    await moves(ada.tile('Bob').locator('video'));
    // The microphones beep once a second.
    for (const [tab, name] of [
      [ada, 'Bob'],
      [bob, 'Ada'],
    ] as const) {
      const speaks = tab.tile(name).and(tab.page.locator('[data-speaking]'));
      await speaks.waitFor();
    }
    await accessible(ada.page);
  });

  it('shows a screen after the return that was shared without a connection', async () => {
    const { ada, bob } = await two(`http://127.0.0.1:${proxy.port}`);
    await bob.sees('Ada');
    await ada.sees('Bob');
    proxy.interrupt();
    await ada.away.waitFor();
    await ada.button('Share screen').click();
    await screenOf(ada, 'Your screen').waitFor();
    proxy.restore();
    await ada.away.waitFor({ state: 'hidden' });
    await moves(screenOf(bob, 'Screen of Ada').locator('video'));
    await bob.button('Share screen').click();
    await moves(screenOf(ada, 'Screen of Bob').locator('video'));
  });

  it('asks before a moderator can open a microphone', async () => {
    const { ada, bob } = await two();
    await ada.act('Bob', 'Mute');
    await bob.button('Unmute').waitFor();
    await ada.act('Bob', 'Ask to unmute');
    await bob.page.getByText('Ada asks you to unmute.').waitFor();
    await ada.who(/^Bob muted$/).waitFor();
    const isOn = () => bob.page.locator('.control.off', { hasText: 'Unmute' }).isHidden();
    expect(await isOn()).to.equal(false);
    await bob.page.getByRole('status').getByRole('button', { name: 'Unmute' }).click();
    await ada.who(/^Bob$/).waitFor();
    expect(await isOn()).to.equal(true);
  });

  it('fills the stage with any number of people, without overlap', async () => {
    const { ada, roomId } = await two();
    const { page } = ada;
    const sizes = [
      { width: 1280, height: 800 },
      { width: 390, height: 780 },
      { width: 2560, height: 1200 },
    ];
    for (const count of [3, 8, 20]) {
      while ((await page.locator('.tile').count()) < count) {
        const before = await page.locator('.tile').count();
        await enterRoom(meetings.base, roomId, `Guest ${before}`);
        await page.locator('.tile').nth(before).waitFor();
      }
      for (const size of sizes) {
        await page.setViewportSize(size);
        const stage = await boxOf(page.locator('.stage'));
        const measure = async () => Promise.all((await page.locator('.tile').all()).map(boxOf));
        await eventually(async () => {
          const tiles = await measure();
          const covered = tiles.reduce((sum, { width, height }) => sum + width * height, 0);
          // What does not fit is reached by scrolling.
          const bottom = Math.max(stage.y + stage.height, ...tiles.map(({ y, height }) => y + height));
          const isFilled = covered > 0.5 * stage.width * (bottom - stage.y);
          const areInside = tiles.every(({ x, width }) => x >= stage.x - 1 && x + width <= stage.x + stage.width + 1);
          const areApart = tiles.every((a, index) =>
            tiles.every(
              (b, other) =>
                other <= index ||
                a.x + a.width <= b.x + 1 ||
                b.x + b.width <= a.x + 1 ||
                a.y + a.height <= b.y + 1 ||
                b.y + b.height <= a.y + 1,
            ),
          );
          return isFilled && areInside && areApart;
        });
      }
    }
  });
});
