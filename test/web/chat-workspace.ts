/** The workspace of the chat page in a browser: people who are signed in, and the parts of the page they use. */
import { expect } from 'chai';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { type AnyBody, type ChatNodes, useChat } from '../support/chat-scenario.js';
import { ask, type Member } from '../support/http-spec.js';
import { type ChatPages, useChatPages } from './chat-page.js';

export interface ChatWorkspaces extends ChatPages {
  readonly chat: ChatNodes;
  /** Sends a request with the member's token; resolves with the body of a success. */
  as(who: Member, method: string, path: string, body?: unknown): Promise<AnyBody>;
  /** Creates a channel as the admin, and resolves with its id. */
  channel(name: string, more?: object): Promise<string>;
  post(who: Member, channelId: string, content: string): Promise<AnyBody>;
  /** Opens the page as a member, at a view such as `channels/c1`, when its messages are there. */
  enter(who: Member, view: string, options?: BrowserContextOptions): Promise<Page>;
}

/** To be called within `describe`: an open chat, and a browser. */
export function useWorkspaces(): ChatWorkspaces {
  const pages = useChatPages();
  const chat = useChat(1, { '--chat-messages-per-minute': '0' });
  const as: ChatWorkspaces['as'] = async (who, method, path, body) => {
    const answer = await ask(chat.base, method, path, { token: who.token, body });
    expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).to.equal(200);
    return answer.body;
  };
  return {
    ...pages,
    chat,
    as,
    channel: async (name, more = {}) => (await as(chat.admin, 'POST', '/channels', { name, ...more })).channel.id,
    post: async (who, channelId, content) =>
      (await as(who, 'POST', `/channels/${channelId}/messages`, { content })).message,
    async enter(who, view, options) {
      const page = await pages.open(`${chat.base}/health`, options);
      await page.evaluate(`localStorage.setItem('chat.session', ${JSON.stringify(sessionOf(who))})`);
      await page.goto(`${chat.base}/#/${view}`);
      await timeline(page).waitFor();
      return page;
    },
  };
}

/** As the page stores it. */
function sessionOf({ token, refreshToken }: Member): string {
  const { sub, username, role } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  const user = { id: sub, userName: username, isAdmin: role === 'admin' };
  return JSON.stringify({ user, accessToken: token, refreshToken, renewAt: Date.now() + 600_000 });
}

export const timeline = (page: Page): Locator => page.locator('.place .messages');
export const composer = (page: Page): Locator => page.locator('.place .composer textarea');
export const panel = (page: Page): Locator => page.locator('.panel');
export const message = (scope: Page | Locator, text: string | RegExp): Locator =>
  scope.locator('.message', { hasText: text });
export const placeLink = (page: Page, name: string | RegExp): Locator => page.locator('.place-link', { hasText: name });

export async function write(page: Page, text: string): Promise<void> {
  await composer(page).fill(text);
  await composer(page).press('Enter');
}

/** Clicks a button of the toolbar of a message. */
export async function act(found: Locator, name: string): Promise<void> {
  await found.hover();
  await found.locator('.message-toolbar').getByRole('button', { name, exact: true }).click();
}

/** Chooses an entry of the menu of a message. */
export async function choose(found: Locator, name: string): Promise<void> {
  await act(found, 'More actions');
  await found.page().getByRole('menuitem', { name, exact: true }).click();
}
