/** Threads, quotes and pins in the chat page, reached from a search into the past. */
import { expect } from 'chai';
import { accessible } from '../support/browser.js';
import type { Member } from '../support/http-spec.js';
import { button, picture } from './chat-page.js';
import { act, choose, message, panel, placeLink, timeline, useWorkspaces } from './chat-workspace.js';

describe('threads, quotes and pins in the chat page', function () {
  this.timeout(120_000);
  const { chat, as, channel, post, enter } = useWorkspaces();
  let ada: Member;
  let bob: Member;
  before(async () => {
    [ada, bob] = [await chat.join('ada'), await chat.join('bob')];
  });

  it('lead to messages, keep replies together, and tell of new ones', async () => {
    const id = await channel('planning', { topic: 'What comes next' });
    const first = await post(ada, id, 'Shall we ship on Thursday?');
    for (let number = 1; number <= 60; number++) await post(ada, id, `Note ${number}`);
    const page = await enter(bob, `channels/${id}`);
    await accessible(page);
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.keyboard.type('ship thursday');
    const found = message(timeline(page), 'ship on Thursday');
    // The wait starts before the click, because the flash ends after 2.5 s.
    const flashed = () => page.locator('.message.flash', { hasText: 'ship on Thursday' }).waitFor();
    await Promise.all([flashed(), panel(page).locator('.message-card').click()]);
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
    await Promise.all([flashed(), answer.locator('.quoted').click()]);

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
});
