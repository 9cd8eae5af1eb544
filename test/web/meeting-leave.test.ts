/** Camera and microphone of the meeting page after leaving: their lights must be off. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { accessible, CONNECTING, FAKE_MEDIA, hasBrowser, startBrowser } from '../support/browser.js';
import { useMeeting } from '../support/meeting-node.js';
import { openTab } from './meeting-page.js';

/** Collects the tracks that the page opens. */
const RECORD_TRACKS = `
  window.tracks = [];
  const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  navigator.mediaDevices.getUserMedia = async (wanted) => {
    const stream = await ask(wanted);
    window.tracks.push(...stream.getTracks());
    return stream;
  };`;

describe('leaving on the meeting page', function () {
  this.timeout(120_000);
  const meetings = useMeeting();
  let browser: Browser;
  before(async function () {
    if (!hasBrowser) this.skip();
    browser = await startBrowser([...CONNECTING, ...FAKE_MEDIA]);
  });
  after(() => browser?.close());

  it('stops camera and microphone, and opens them again to join', async () => {
    const bob = await openTab(browser, meetings.base, 'Bob');
    const ada = await openTab(browser, meetings.base, 'Ada');
    const { page } = ada;
    await page.addInitScript(RECORD_TRACKS);
    await page.reload();
    await page.getByLabel('Your name').fill('Ada');
    const live = () =>
      page.evaluate<string[]>(
        `tracks.filter(({ readyState }) => readyState === 'live').map(({ kind }) => kind).sort()`,
      );
    await eventually(async () => (await live()).length === 2);
    const roomId = await ada.create();
    await bob.join(roomId);
    await bob.sees('Ada');

    await ada.button('Leave').click();
    await page.getByText('Your camera is off until you join again').waitFor();
    expect(await live()).to.deep.equal([]);
    await accessible(page);
    const folder = process.env.SCREENSHOTS;
    if (folder) await page.screenshot({ path: `${folder}/meeting-left.png`, fullPage: true });

    await ada.join(roomId);
    await bob.sees('Ada');
    await bob.open('People');
    await bob.who(/^Ada$/).waitFor();
    expect(await live()).to.deep.equal(['audio', 'video']);
    await bob.act('Ada', 'Remove');
    await bob.button('Remove').click();
    await ada.seesError(/removed you/);
    expect(await live()).to.deep.equal([]);

    // A meeting that does not let us in leaves the preview on.
    await ada.join('no-such-meeting');
    await page.getByRole('alert').waitFor();
    await eventually(async () => (await live()).length === 2);
    expect([...ada.complaints, ...bob.complaints]).to.deep.equal([]);
  });
});
