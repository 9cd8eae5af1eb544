/** What readers are shown of what was said: pages with everybody's names, as JSON. */
import type { RosterState } from '../../domain/chat/roster.js';
import type { Rejection } from '../../domain/shared/decider.js';
import type { Position } from '../ports.js';
import { later, type Reflected } from '../reflecting.js';
import type { ChatAdmission } from './admission.js';
import { type HotPages, KEPT } from './hot.js';
import type { Page, Pages, Range } from './pages.js';
import type { Acknowledged } from './told.js';
import { type MessageView, messageView, type ReplyView, replyView } from './views.js';

export interface ReadingPorts {
  readonly admission: ChatAdmission;
  readonly pages: Pages;
  readonly hot: HotPages;
  readonly acknowledged: Acknowledged;
}

/** The JSON of `{messages}`. */
export interface Shown extends Reflected {
  readonly json: string;
}

export type Reading = ReturnType<typeof createReading>;

export function createReading({ admission, pages, hot, acknowledged }: ReadingPorts) {
  const roster = async (seen?: Position): Promise<RosterState> => (await admission.roster(seen)).state;

  const viewed = (names: RosterState, { found }: Page): readonly MessageView[] =>
    found.map(({ message }) => messageView(names, message));

  async function messages(channelId: string, range: Range, seen?: Position): Promise<Shown | Rejection> {
    const { limit, before } = range;
    const isHot = before === undefined && limit <= KEPT;
    if (isHot && (seen ?? 0n) <= hot.heard() && (await hot.hears(acknowledged.latest(channelId)))) {
      const json = hot.show(channelId, limit, await roster(seen));
      if (json !== undefined) return { json, position: hot.heard() };
    }
    const page = isHot
      ? await hot.fill(channelId, (heard) => pages.newest(channelId, KEPT, later(seen ?? 0n, heard)))
      : await pages.messages(channelId, range, seen);
    if ('rejected' in page) return page;
    const { found, ...reflected } = page;
    const wanted = { ...page, found: found.slice(-limit) };
    return { json: JSON.stringify({ messages: viewed(await roster(seen), wanted) }), ...reflected };
  }

  async function pins(
    channelId: string,
    seen?: Position,
  ): Promise<Reflected & { readonly body: { readonly messages: readonly MessageView[] } }> {
    const page = await pages.pins(channelId, seen);
    const { found: _, ...reflected } = page;
    return { body: { messages: viewed(await roster(seen), page) }, ...reflected };
  }

  async function replies(
    channelId: string,
    threadId: string,
    range: Range,
    seen?: Position,
  ): Promise<(Reflected & { readonly body: { readonly replies: readonly ReplyView[] } }) | Rejection> {
    const page = await pages.replies(channelId, threadId, range, seen);
    if ('rejected' in page) return page;
    const { replies: found, ...reflected } = page;
    const names = await roster(seen);
    return { body: { replies: found.map((each) => replyView(names, each)) }, ...reflected };
  }

  return { messages, pins, replies };
}
