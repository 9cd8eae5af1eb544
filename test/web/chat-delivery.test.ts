/** The chat page on bad lines: nothing typed is lost, messages arrive once, and what was missed is caught up on. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import type { Page, Route } from 'playwright-core';
import { accessible } from '../support/browser.js';
import type { Member } from '../support/http-spec.js';
import { button, picture } from './chat-page.js';
import { choose, composer, message, placeLink, timeline, useWorkspaces, write } from './chat-workspace.js';

const MESSAGES = '**/channels/*/messages';

describe('the chat page on a bad line', function () {
  this.timeout(120_000);
  const { chat, as, channel, post, enter, open } = useWorkspaces();
  let ada: Member;
  let bob: Member;
  before(async () => {
    [ada, bob] = [await chat.join('ada'), await chat.join('bob')];
  });

  const contents = async (id: string): Promise<readonly string[]> =>
    (await as(bob, 'GET', `/channels/${id}/messages`)).messages.map((each: { content: string }) => each.content);

  /** Fails posts as a line does that breaks, before or after the service has them. */
  const breakPosts = (page: Page, after?: (route: Route) => Promise<unknown>) =>
    page.route(MESSAGES, async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      await after?.(route);
      return route.abort();
    });

  /** The service has forgotten what a page missed, the next time that the page connects. */
  async function forgetMissed(page: Page) {
    let streams = 0;
    await page.unroute('**/events');
    await page.route('**/events', async (route) => {
      if (streams++ === 0)
        return route.fulfill({ contentType: 'text/event-stream', body: 'data: {"type":"RESET"}\n\n' });
      // From now on, not from where the page was.
      const { 'last-event-id': _, ...headers } = await route.request().allHeaders();
      return route.continue({ headers });
    });
  }

  it('keeps messages through failures and a reload, and sends each once, in order', async () => {
    const id = await channel('line');
    const page = await enter(ada, `channels/${id}`);
    await breakPosts(page);
    await write(page, 'first');
    await write(page, 'second');
    await message(page, 'first').getByText('Not sent yet').waitFor();
    await accessible(page);
    await picture(page, 'waiting');
    expect(await contents(id)).to.deep.equal([]);
    // The page tries again by itself only after the test. The newest route comes first: there is no moment without one.
    await page.route(MESSAGES, (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({ status: 503, headers: { 'Retry-After': '3600' }, json: { error: 'Too busy.' } })
        : route.continue(),
    );
    await page.reload();
    await message(page, 'first').getByText('Too busy.').waitFor();
    await message(page, 'second').waitFor();
    // The service gets the message, the answer is lost.
    await page.unroute(MESSAGES);
    await breakPosts(page, (route) => route.fetch());
    await button(page, 'Send now').first().click();
    await eventually(async () => (await contents(id)).includes('first'));
    await page.unroute(MESSAGES);
    await page.locator('.outgoing').first().waitFor({ state: 'detached' });
    await eventually(async () => (await contents(id)).length === 2);
    await page.locator('.outgoing').first().waitFor({ state: 'detached' });
    expect(await contents(id)).to.deep.equal(['first', 'second']);
    expect(await message(timeline(page), /first|second/).count()).to.equal(2);
    await page.reload();
    await message(page, 'second').waitFor();
    expect(await message(timeline(page), /first|second/).count()).to.equal(2);
  });

  it('keeps drafts, and gives refused messages back', async () => {
    const [id, other] = [await channel('drafts'), await channel('elsewhere')];
    const page = await enter(ada, `channels/${id}`);
    await composer(page).fill('half a thought');
    await placeLink(page, 'elsewhere').click();
    expect(await composer(page).inputValue()).to.equal('');
    await page.reload();
    await placeLink(page, 'drafts').click();
    await page.getByRole('heading', { name: 'drafts' }).first().waitFor();
    expect(await composer(page).inputValue()).to.equal('half a thought');

    await as(chat.admin, 'PUT', `/channels/${other}`, { isPrivate: true });
    await page.getByRole('link', { name: 'elsewhere' }).waitFor({ state: 'detached' });
    await page.route(MESSAGES, (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({ status: 400, json: { error: 'Content must be at most 8000 characters' } })
        : route.continue(),
    );
    await composer(page).press('Enter');
    await message(page, 'half a thought').getByText('Content must be at most 8000 characters').waitFor();
    await accessible(page);
    await message(page, 'half a thought').getByRole('button', { name: 'Edit' }).click();
    expect(await composer(page).inputValue()).to.equal('half a thought');
    await message(page, 'half a thought').waitFor({ state: 'detached' });
    expect(await contents(id)).to.deep.equal([]);
  });

  it('says that the connection is lost, and catches up when it is back', async () => {
    const id = await channel('away');
    const page = await enter(ada, `channels/${id}`);
    const sent = await post(bob, id, 'before');
    await message(page, 'before').waitFor();
    await page.context().setOffline(true);
    await page.evaluate("dispatchEvent(new Event('offline'))");
    await write(page, 'typed while away');
    await message(page, 'typed while away').getByText('Not sent yet').waitFor();
    await post(bob, id, 'missed');
    await as(bob, 'PUT', `/messages/${sent.id}`, { content: 'changed' });
    await page.context().setOffline(false);
    await message(page, 'missed').waitFor();
    await message(page, 'changed').waitFor();
    await page.locator('.outgoing').waitFor({ state: 'detached' });
    await eventually(async () => (await contents(id)).join() === 'changed,missed,typed while away');
  });

  it('keeps an edit of a message that was deleted while the service forgot what was missed', async () => {
    const id = await channel('gap in an edit');
    const { id: messageId } = await post(ada, id, 'first version');
    await post(ada, id, 'stays');
    const page = await enter(ada, `channels/${id}`);
    await composer(page).fill('a draft');
    await choose(message(page, 'first version'), 'Edit');
    await page.locator('.message-editor textarea').press('End');
    await page.keyboard.type(', and a second');
    await page.context().setOffline(true);
    await as(ada, 'DELETE', `/messages/${messageId}`);
    await forgetMissed(page);
    await page.context().setOffline(false);
    await page.getByText('What you typed is in the message box').waitFor();
    expect(await composer(page).inputValue()).to.equal('a draft\nfirst version, and a second');
    // An edit of a message that is still there goes on.
    await choose(message(page, 'stays'), 'Edit');
    await page.context().setOffline(true);
    await post(bob, id, 'missed');
    await forgetMissed(page);
    await page.context().setOffline(false);
    await message(page, 'missed').waitFor();
    await page.locator('.message-editor').waitFor();
  });

  it('reads everything again when the service has forgotten what was missed', async () => {
    const [id, other] = [await channel('gap'), await channel('gap too')];
    const page = await enter(ada, `channels/${id}`);
    await page.context().setOffline(true);
    await post(bob, id, 'missed here');
    await post(bob, other, 'missed there, @ada');
    await as(bob, 'PUT', '/users/me', { userName: 'Bob the Second' });
    await forgetMissed(page);
    await page.context().setOffline(false);
    await message(page, 'missed here').getByText('Bob the Second').waitFor();
    await placeLink(page, 'gap too').locator('.badge', { hasText: '1' }).waitFor();
  });

  it('misses nothing that is sent while it starts', async () => {
    const id = await channel('start');
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const page = await enter(ada, `channels/${id}`);
    await page.context().route('**/events', async (route) => {
      await released;
      await route.continue();
    });
    const reconnection = page.context().waitForEvent('request', (request) => request.url().endsWith('/events'));
    const second = await open(`${chat.base}/#/channels/${id}`, { context: page.context() });
    await reconnection;
    // Long enough for reads that do not wait for the stream.
    await timeline(second)
      .waitFor({ timeout: 1000 })
      .catch(() => {});
    await post(bob, id, 'while it starts');
    release();
    await message(second, 'while it starts').waitFor();
  });

  it('shares what is read and what waits between the tabs of a browser', async () => {
    const [id, other] = [await channel('tabs'), await channel('other tab')];
    const page = await enter(ada, `channels/${id}`);
    const second = await open(`${chat.base}/#/channels/${other}`, { context: page.context() });
    await timeline(second).waitFor();
    await breakPosts(page);
    await write(page, 'from the first tab');
    await message(page, 'from the first tab').getByText('Not sent yet').waitFor();
    await post(bob, other, 'for both');
    await message(second, 'for both').waitFor();
    await placeLink(page, 'other tab').and(page.locator(':not(.unread)')).waitFor();
    // A tab that is opened later sends what waits; it disappears from the first one.
    const third = await open(`${chat.base}/#/channels/${id}`, { context: page.context() });
    await message(third, 'from the first tab').waitFor();
    await page.locator('.outgoing').waitFor({ state: 'detached' });
    await message(page, 'from the first tab').waitFor();
    expect(await contents(id)).to.deep.equal(['from the first tab']);
  });
});
