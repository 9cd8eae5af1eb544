/** Notifications of the rooms page: of messages only, without what they say, while the user looks elsewhere. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { createRoom, inOrder, inviteLink, joinBy, picture, reads, sendText, useRooms } from './rooms-page.js';

/** Records notifications instead of showing them, and lets a test hide the page, also while it is loaded again. */
const STUB = `
  window.shown = [];
  window.Notification = class {
    static permission = sessionStorage.getItem('permission') ?? 'default';
    static async requestPermission() {
      sessionStorage.setItem('permission', 'granted');
      return (this.permission = 'granted');
    }
    constructor(title, { body, tag }) { window.shown.push({ title, body, tag }); }
  };
  window.isHidden = () => sessionStorage.getItem('hidden') === 'true';
  Object.defineProperty(document, 'visibilityState', { get: () => isHidden() ? 'hidden' : 'visible' });
  document.hasFocus = () => !isHidden();`;

const shown = (page: Page) => page.evaluate<{ title: string; body: string; tag: string }[]>('shown');

/** The page believes that another tab is in front, or is so no longer. */
const setHidden = (page: Page, isHidden: boolean) =>
  page.evaluate(`
    sessionStorage.setItem('hidden', '${isHidden}');
    document.dispatchEvent(new Event('visibilitychange'));`);

const openMenu = (page: Page) => page.getByRole('button', { name: 'Room menu' }).click();

describe('notifications of the rooms page', function () {
  this.timeout(60_000);
  const { open, openTab } = useRooms();

  it('come if wanted, and count in the title of the tab, also where the browser refuses channels', async () => {
    const ada = await open();
    await ada.addInitScript(`${STUB} delete window.BroadcastChannel;`);
    await ada.reload();
    const roomId = await createRoom(ada, 'Ada', 'Plans');
    const bob = await open(await inviteLink(ada));
    await joinBy(bob, 'Bob');
    await reads(ada, 'Bob joined');

    await setHidden(ada, true);
    await sendText(bob, 'Not wanted yet');
    await reads(ada, 'Not wanted yet');
    await setHidden(ada, false);
    const item = ada.getByRole('menuitemcheckbox', { name: 'Notify me of messages' });
    await openMenu(ada);
    await item.click();
    await openMenu(ada);
    await item.and(ada.locator('[aria-checked=true]')).waitFor();
    await inOrder(ada);
    await picture(ada, 'notify-menu');
    await ada.keyboard.press('Escape');
    await sendText(bob, 'While you look');
    await reads(ada, 'While you look');

    await setHidden(ada, true);
    await sendText(bob, 'The secret plan');
    await eventually(async () => (await shown(ada)).length > 0);
    expect(await shown(ada)).to.deep.equal([
      { title: 'New message', body: 'In an encrypted room. Open it to read.', tag: roomId },
    ]);
    await eventually(async () => expect(await ada.title()).to.equal('(1) Plans'));

    // The choice stays, and what was there before is no news.
    await ada.reload();
    await reads(ada, 'The secret plan');
    await sendText(bob, 'After the reload');
    await eventually(async () => (await shown(ada)).length > 0);
    await reads(ada, 'After the reload');
    expect(await shown(ada)).to.have.length(1);
  });

  it('do not come while another tab of the browser shows the message', async () => {
    const ada = await open();
    await ada.addInitScript(STUB);
    await ada.reload();
    await createRoom(ada, 'Ada', 'Plans');
    const bob = await open(await inviteLink(ada));
    await joinBy(bob, 'Bob');
    await openMenu(ada);
    await ada.getByRole('menuitemcheckbox', { name: 'Notify me of messages' }).click();
    await ada.context().addInitScript(`${STUB} Notification.permission = 'granted';`);
    const other = await openTab(ada, ada.url());
    await reads(other, 'Bob joined');

    await setHidden(ada, true);
    await sendText(bob, 'Seen in the other tab');
    await reads(ada, 'Seen in the other tab');
    // A later timer of the page ends after the one that would notify.
    await ada.evaluate('new Promise(resolve => setTimeout(resolve, 600))');
    expect(await shown(ada)).to.deep.equal([]);
    await setHidden(other, true);
    await sendText(bob, 'Seen in neither');
    await eventually(async () => (await shown(ada)).length > 0);
    await eventually(async () => (await shown(other)).length > 0);
    expect(await shown(ada)).to.have.length(1);
  });
});
