/** Messages in the chat page, between two people: writing, editing, reactions, threads, quotes, pins, unread marks. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { accessible } from '../support/browser.js';
import type { Member } from '../support/http-spec.js';
import { button, noScroll, PHONE, picture } from './chat-page.js';
import { act, choose, composer, message, panel, placeLink, useWorkspaces, write } from './chat-workspace.js';

const EVIL = '<img src=x onerror="document.title=1">';

describe('messages in the chat page', function () {
  this.timeout(120_000);
  const { as, chat, channel, post, enter } = useWorkspaces();
  let ada: Member;
  let bob: Member;
  before(async () => {
    [ada, bob] = [await chat.join('ada'), await chat.join('bob')];
  });

  it('appear at once for the author, then for others, and follow edits, reactions and deletion', async () => {
    const id = await channel('talk');
    const [adas, bobs] = [await enter(ada, `channels/${id}`), await enter(bob, `channels/${id}`)];
    await write(adas, `**Hello** ${EVIL} https://example.org/a`);
    await message(adas, 'Hello').waitFor();
    const seen = message(bobs, EVIL);
    await seen.locator('strong', { hasText: 'Hello' }).waitFor();
    expect(await seen.locator('a').getAttribute('href')).to.equal('https://example.org/a');
    expect(await bobs.title()).not.to.equal('1');

    // Only the author may edit.
    await act(seen, 'More actions');
    expect(await bobs.getByRole('menuitem').allTextContents()).not.to.include.members(['Edit', 'Delete']);
    await bobs.keyboard.press('Escape');
    await act(seen, 'Add reaction');
    await bobs.getByRole('button', { name: 'rocket' }).click();
    await message(adas, 'Hello').getByRole('button', { name: 'bob reacted with' }).click();
    await seen.getByRole('button', { name: 'you and ada reacted with' }).click();
    await message(adas, 'Hello').getByRole('button', { name: 'you reacted with' }).waitFor();

    // The last own message is edited from the empty field; giving up keeps it as it was.
    await composer(adas).press('ArrowUp');
    await adas.keyboard.type(' not this');
    await adas.keyboard.press('Escape');
    await composer(adas).press('ArrowUp');
    await adas.keyboard.type(' and more');
    await adas.keyboard.press('Enter');
    await message(bobs, '/a and more').getByText('(edited)').waitFor();
    await choose(message(bobs, 'and more'), 'Show earlier versions');
    await bobs.locator('.versions > li').nth(1).waitFor();
    await accessible(bobs);
    await bobs.keyboard.press('Escape');

    await choose(message(adas, 'and more'), 'Delete');
    await adas.getByRole('dialog').getByText('will be deleted for everyone').waitFor();
    await button(adas, 'Delete').click();
    await message(bobs, 'Hello').waitFor({ state: 'detached' });
    await message(adas, 'Hello').waitFor({ state: 'detached' });
  });

  it('leave what was typed in the message box when they are deleted while they are edited', async () => {
    const id = await channel('edited');
    const { id: messageId } = await post(ada, id, 'first version');
    const page = await enter(ada, `channels/${id}`);
    await composer(page).fill('a draft');
    await choose(message(page, 'first version'), 'Edit');
    await page.locator('.message-editor textarea').press('End');
    await page.keyboard.type(', and a second');
    await as(ada, 'DELETE', `/messages/${messageId}`);
    await page.getByText('What you typed is in the message box').waitFor();
    expect(await composer(page).inputValue()).to.equal('a draft\nfirst version, and a second');
    await picture(page, 'edited-message-deleted');
  });

  it('are still edited after a reload, and leave what was typed when they were deleted meanwhile', async () => {
    const id = await channel('edited and reloaded');
    const { id: messageId } = await post(ada, id, 'first version');
    const page = await enter(ada, `channels/${id}`);
    await choose(message(page, 'first version'), 'Edit');
    await page.locator('.message-editor textarea').press('End');
    await page.keyboard.type(', and a second');
    await page.reload();
    await page.locator('.message-editor').waitFor();
    // The tab is away while the message is deleted.
    await page.goto(`${chat.base}/health`);
    await as(ada, 'DELETE', `/messages/${messageId}`);
    await page.goto(`${chat.base}/#/channels/${id}`);
    await page.getByText('What you typed is in the message box').waitFor();
    expect(await composer(page).inputValue()).to.equal('first version, and a second');
    await page.reload();
    await composer(page).waitFor();
    expect(await page.evaluate('Object.keys(sessionStorage)')).to.deep.equal([]);
  });

  it('leave what was typed when they are deleted in another view, and nothing that was not typed', async () => {
    const [id, other] = [await channel('left'), await channel('elsewhere')];
    const [typed, untouched] = [await post(ada, id, 'typed'), await post(ada, id, 'untouched')];
    const page = await enter(ada, `channels/${id}`);
    await choose(message(page, 'untouched'), 'Edit');
    await as(ada, 'DELETE', `/messages/${untouched.id}`);
    await message(page, 'untouched').waitFor({ state: 'detached' });
    expect(await composer(page).inputValue()).to.equal('');
    await choose(message(page, 'typed'), 'Edit');
    await page.locator('.message-editor textarea').press('End');
    await page.keyboard.type(' more');
    await page.goto(`${chat.base}/#/channels/${other}`);
    await page.getByRole('heading', { name: 'elsewhere', level: 1 }).waitFor();
    await as(ada, 'DELETE', `/messages/${typed.id}`);
    await page.getByText('What you typed is in the message box').waitFor();
    await placeLink(page, 'left').click();
    await page.getByRole('heading', { name: 'left', level: 1 }).waitFor();
    expect(await composer(page).inputValue()).to.equal('typed more');
  });

  it('of a deleted thread leave what was typed in the message box of the channel', async () => {
    const id = await channel('threads');
    const { id: parentId } = await post(ada, id, 'the parent');
    await as(ada, 'POST', `/messages/${parentId}/thread`, { content: 'a reply' });
    const page = await enter(ada, `channels/${id}`);
    await page.locator('.thread-summary').click();
    await choose(message(panel(page), 'a reply'), 'Edit');
    await panel(page).locator('.message-editor textarea').press('End');
    await page.keyboard.type(' with more');
    await as(ada, 'DELETE', `/messages/${parentId}`);
    await page.getByText('What you typed is in the message box').waitFor();
    expect(await composer(page).inputValue()).to.equal('a reply with more');
  });

  it('are unread until they are seen, with a count for those that address the user', async () => {
    const [id, other] = [await channel('alerts'), await channel('quiet corner')];
    const page = await enter(bob, `channels/${other}`, { viewport: PHONE, colorScheme: 'dark' });
    await post(ada, id, 'Disk is full');
    await post(ada, id, '@bob can you look?');
    await eventually(() => page.evaluate<boolean>("document.title.startsWith('(1) ')"));
    await page.locator('.place-header .badge', { hasText: '1' }).waitFor();
    await button(page, 'Show channels and people').click();
    const link = placeLink(page, 'alerts');
    await link.locator('.badge', { hasText: '1' }).waitFor();
    await accessible(page);
    await picture(page, 'drawer-dark');
    await link.click();
    await page.getByText('New', { exact: true }).waitFor();
    await message(page, 'can you look').locator('.mention.own').waitFor();
    await eventually(() => page.evaluate<boolean>("!document.title.startsWith('(')"));
    await accessible(page);
    await noScroll(page);
    await picture(page, 'phone-dark');

    // Another tab of the same browser knows; and a message can be made unread again.
    await message(page, 'can you look').click();
    await choose(message(page, 'can you look'), 'Mark as unread');
    await eventually(() => page.evaluate<boolean>("document.title.startsWith('(1) ')"));
    await page.reload();
    await eventually(() =>
      page.evaluate<boolean>("document.title.startsWith('(1) ') || document.title.includes('alerts')"),
    );
  });

  it('are freed when they are out of view, however far the reader scrolls', async () => {
    const id = await channel('long');
    const COUNT = 400;
    for (let lane = 0; lane < COUNT; lane += 20)
      await Promise.all(Array.from({ length: 20 }, (_, n) => post(bob, id, `message ${lane + n}`)));
    const page = await enter(ada, `channels/${id}`);
    await page.locator('.message').last().waitFor();
    const session = await page.context().newCDPSession(page);
    const nodes = async () => {
      await session.send('HeapProfiler.collectGarbage');
      return (await session.send('Memory.getDOMCounters')).nodes;
    };
    const before = await nodes();
    const intro = page.locator('.timeline-intro');
    const scrollBy = (px: number) => page.evaluate(`document.querySelector('.place .messages').scrollBy(0, ${px})`);
    while (!(await intro.isVisible())) await scrollBy(-600);
    await scrollBy(1_000_000);
    await eventually(async () => (await nodes()) < 2 * before);
  });

  it('get a new line with Enter on a phone, also while they are edited', async () => {
    const id = await channel('phones');
    await post(ada, id, 'One line');
    const page = await enter(ada, `channels/${id}`, { viewport: PHONE, hasTouch: true, isMobile: true });
    await message(page, 'One line').tap();
    await choose(message(page, 'One line'), 'Edit');
    await page.getByLabel('Edit message').press('End');
    await page.getByLabel('Edit message').press('Enter');
    await page.keyboard.type('and another');
    await button(page, 'Save').click();
    await message(page, /One line\s+and another/).waitFor();
  });
});
