/** The emoji picker of the chat page: search and keys, for reactions and in the message box. */
import { expect } from 'chai';
import { accessible } from '../support/browser.js';
import { button, noScroll, PHONE, picture } from './chat-page.js';
import { act, composer, message, useWorkspaces } from './chat-workspace.js';

describe('emoji of the chat page', function () {
  this.timeout(60_000);
  const { chat, channel, post, enter } = useWorkspaces();

  it('are found by name and chosen by keys', async () => {
    const ada = await chat.join('ada');
    const id = await channel('signs');
    await post(ada, id, 'Look at this');
    const page = await enter(ada, `channels/${id}`);
    const search = page.getByRole('searchbox', { name: 'Search emoji' });

    await act(message(page, 'Look at this'), 'Add reaction');
    await search.waitFor();
    await accessible(page);
    await picture(page, 'emoji');
    await page.keyboard.type('cele');
    const titles = `[...document.querySelectorAll('.emoji-grid button')].map(({ title }) => title)`;
    expect(await page.evaluate<string[]>(titles)).to.deep.equal(['party', 'partying']);
    await page.keyboard.press('Enter');
    await page.locator('.reaction', { hasText: '🎉' }).waitFor();

    // Into the text, where the caret is.
    await composer(page).fill('Well done');
    await composer(page).press('Home');
    for (let at = 0; at < 4; at++) await composer(page).press('ArrowRight');
    // At once, not with the next frame: a key in between would reach the page.
    const focused = await page.evaluate<string>(`new Promise((resolve) => {
      document.querySelector('[aria-label="Insert an emoji"]').click();
      setTimeout(() => resolve(document.activeElement.getAttribute('aria-label')));
    })`);
    expect(focused).to.equal('Search emoji');
    await page.keyboard.type('no such sign');
    await page.getByText('No emoji of that name').waitFor();
    await search.fill('');
    for (const key of ['ArrowDown', 'ArrowRight', 'ArrowDown', 'ArrowUp', 'ArrowLeft', 'ArrowUp', 'ArrowDown'])
      await page.keyboard.press(key);
    await page.keyboard.press('Enter');
    expect(await composer(page).inputValue()).to.equal('Well👍 done');
    await page.keyboard.type('!');
    expect(await composer(page).inputValue()).to.equal('Well👍! done');
    await button(page, 'Insert an emoji').click();
    await page.keyboard.press('Escape');
    await search.waitFor({ state: 'detached' });
  });

  it('fit a phone, in both schemes', async () => {
    const ada = await chat.join('ada');
    const page = await enter(ada, `channels/${await channel('phone signs')}`, { viewport: PHONE, colorScheme: 'dark' });
    for (const width of [PHONE.width, 320]) {
      await page.setViewportSize({ ...PHONE, width });
      await button(page, 'Insert an emoji').click();
      await page.getByRole('searchbox', { name: 'Search emoji' }).waitFor();
      await noScroll(page);
      await accessible(page);
      await picture(page, `emoji-dark-${width}`);
      await page.keyboard.press('Escape');
    }
  });
});
