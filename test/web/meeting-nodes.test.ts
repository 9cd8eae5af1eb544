/** The meeting page on several nodes, and across a restart of its service. */
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { CONNECTING, FAKE_MEDIA, hasBrowser, startBrowser } from '../support/browser.js';
import { useMeeting } from '../support/meeting-node.js';
import { freePort } from '../support/server-process.js';
import { openTab } from './meeting-page.js';

describe('meeting page on two nodes', function () {
  this.timeout(240_000);
  const meetings = useMeeting({ '--meeting-connect-per-minute': '100000' }, 2);
  let browser: Browser;
  before(async function () {
    if (!hasBrowser) this.skip();
    browser = await startBrowser([...CONNECTING, ...FAKE_MEDIA]);
  });
  after(() => browser?.close());

  it('connects participants of both, and transfers a file', async () => {
    const [first = '', second = ''] = meetings.bases;
    const [ada, bob] = [await openTab(browser, first, 'Ada'), await openTab(browser, second, 'Bob')];
    await bob.join(await ada.create());
    await bob.inside();
    await ada.sees('Bob');
    await bob.sees('Ada');
    const sent = randomBytes(300_000);
    await ada.sendFile('Bob', 'plan.bin', sent);
    expect((await bob.saves('plan.bin')).equals(sent)).to.equal(true);
    await bob.send('It is here');
    await ada.reads('It is here');
  });
});

describe('meeting page when its service restarts', function () {
  this.timeout(240_000);
  const meetings = useMeeting({ '--meeting-connect-per-minute': '100000' }, 0);
  let browser: Browser;
  before(async function () {
    if (!hasBrowser) this.skip();
    browser = await startBrowser([...CONNECTING, ...FAKE_MEDIA]);
  });
  after(() => browser?.close());

  it('restores the same participants with the same rights, without duplicates', async () => {
    const port = await freePort();
    const base = await meetings.start({ '--meeting-port': port });
    const [ada, bob] = [await openTab(browser, base, 'Ada'), await openTab(browser, base, 'Bob')];
    await bob.join(await ada.create());
    await bob.inside();
    await ada.sees('Bob');
    await ada.choose('Lock meeting');
    await bob.locked.waitFor();
    const ids = () => ada.page.locator('.tile').evaluateAll((tiles) => tiles.map((tile) => tile.dataset.id));
    const before = await ids();

    await meetings.stop(0);
    await ada.away.waitFor();
    await meetings.start({ '--meeting-port': port });
    for (const tab of [ada, bob]) await tab.away.waitFor({ state: 'hidden' });
    await ada.send('Here again');
    await bob.reads('Here again');
    await ada.sees('Bob');
    expect(await ids()).to.deep.equal(before);
    // Ada is still a moderator.
    await ada.choose('Unlock meeting');
    await bob.locked.waitFor({ state: 'hidden' });
  });
});
