/** Messages in the chat page, between two people: writing, editing, reactions, threads, quotes, pins, unread marks. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { accessible } from '../support/browser.js';
import type { Member } from '../support/http-spec.js';
import { button, noScroll, PHONE, picture } from './chat-page.js';
import { act, choose, composer, message, panel, placeLink, timeline, useWorkspaces, write } from './chat-workspace.js';

const EVIL = '<img src=x onerror="document.title=1">';

describe('messages in the chat page', function () {
  this.timeout(120_000);
  const { chat, as, channel, post, enter } = useWorkspaces();
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

  it('have threads, quotes that jump, and pins', async () => {
    const id = await channel('planning', { topic: 'What comes next' });
    const first = await post(ada, id, 'Shall we ship on Thursday?');
    for (let number = 1; number <= 60; number++) await post(ada, id, `Note ${number}`);
    const page = await enter(bob, `channels/${id}`);
    await accessible(page);
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.keyboard.type('ship thursday');
    await panel(page).locator('.message-card').click();
    const found = message(timeline(page), 'ship on Thursday');
    await page.locator('.message.flash', { hasText: 'ship on Thursday' }).waitFor();
    await found.hover();
    await picture(page, 'search');

    await act(found, 'Reply in thread');
    await panel(page).locator('textarea').fill('Friday is safer');
    await panel(page).locator('textarea').press('Enter');
    await message(panel(page), 'Friday is safer').waitFor();
    await found.getByRole('button', { name: '1 reply' }).waitFor();
    const { replies } = await as(ada, 'GET', `/messages/${first.id}/thread`);
    expect(replies.map(({ content }: { content: string }) => content)).to.deep.equal(['Friday is safer']);
    await accessible(page);
    await picture(page, 'thread');
    await page.keyboard.press('Escape');
    await panel(page).waitFor({ state: 'detached' });

    await act(found, 'Quote');
    await page.keyboard.type('Yes');
    await page.keyboard.press('Enter');
    const answer = message(timeline(page), /^.*Yes$/);
    await answer.locator('.quoted').click();
    await page.locator('.message.flash', { hasText: 'ship on Thursday' }).waitFor();

    await choose(message(timeline(page), 'Shall we ship').first(), 'Pin to channel');
    await button(page, 'Pinned messages').click();
    await panel(page).locator('.message-card', { hasText: 'ship on Thursday' }).waitFor();
    await as(ada, 'DELETE', `/messages/${first.id}/pin`);
    await panel(page).getByText('Nothing is pinned yet').waitFor();
    await accessible(page);

    // A reply of another in a thread that the user takes part in.
    await as(ada, 'POST', `/messages/${first.id}/thread`, { content: 'Friday it is' });
    await placeLink(page, 'Unread threads').click();
    await panel(page).locator('.message-card', { hasText: '2 replies, the last by ada' }).waitFor();
    await accessible(page);
    await picture(page, 'threads');
    await panel(page).locator('.message-card').click();
    await message(panel(page), 'Friday it is').waitFor();
    await placeLink(page, 'Unread threads').waitFor({ state: 'detached' });
  });

  it('are unread until they are seen, with a count for those that address the user', async () => {
    const [id, other] = [await channel('alerts'), await channel('quiet corner')];
    const page = await enter(bob, `channels/${other}`, { viewport: PHONE, colorScheme: 'dark' });
    await post(ada, id, 'Disk is full');
    await post(ada, id, '@bob can you look?');
    await eventually(() => page.evaluate<boolean>("document.title.startsWith('(1) ')"));
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
});
