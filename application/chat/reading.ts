/** What readers are shown of what was said: pages with everybody's names, as JSON. */
import type { RosterState } from '../../domain/chat/roster.js';
import type { Rejection } from '../../domain/shared/decider.js';
import type { Position } from '../ports.js';
import { later, type Reflected } from '../reflecting.js';
import { isTurnOver, nextTurn } from '../turns.js';
import type { ChatAdmission } from './admission.js';
import { type HotPages, KEPT } from './hot.js';
import type { OlderPages, OlderRange } from './older.js';
import type { Page, Pages, Range } from './pages.js';
import type { Acknowledged } from './told.js';
import { type MessageView, messageView, type ReplyView, replyView } from './views.js';

export interface ReadingPorts {
  readonly admission: ChatAdmission;
  readonly pages: Pages;
  readonly hot: HotPages;
  readonly older: OlderPages;
  readonly acknowledged: Acknowledged;
}

/** The JSON of `{messages}`. */
export interface Shown extends Reflected {
  readonly json: string | Uint8Array;
}

export type Reading = ReturnType<typeof createReading>;

export function createReading({ admission, pages, hot, older, acknowledged }: ReadingPorts) {
  const roster = async (seen?: Position): Promise<RosterState> => (await admission.roster(seen)).state;

  const viewed = (names: RosterState, { found }: Page): readonly MessageView[] =>
    found.map(({ message }) => messageView(names, message));

  /** Whether what is in memory shows all that a reader is owed. */
  const isHeard = async (channelId: string, seen: Position) =>
    seen <= hot.heard() && (await hot.hears(acknowledged.latest(channelId)));

  async function messages(channelId: string, range: Range, seen = 0n): Promise<Shown | Rejection> {
    const { limit, before } = range;
    if (before !== undefined) return olderMessages(channelId, { limit, before }, seen);
    if (limit > KEPT) return asRead(await pages.messages(channelId, range, seen), seen);
    if (await isHeard(channelId, seen)) {
      const json = hot.show(channelId, limit, await roster(seen));
      if (json !== undefined) return { json, position: hot.heard() };
    }
    const newest = (heard: Position) => pages.newest(channelId, KEPT, later(seen, heard));
    const page = await hot.fill(channelId, newest);
    return asRead({ ...page, found: page.found.slice(-limit) }, seen);
  }

  async function olderMessages(
    channelId: string,
    range: OlderRange,
    seen: Position,
  ): Promise<Shown | Rejection> {
    if (await isHeard(channelId, seen)) {
      const json = older.show(channelId, range, await roster(seen));
      if (json !== undefined) return { json, position: hot.heard() };
    }
    const end = older.placeOf(channelId, range.before);
    const page = await pages.messages(channelId, { ...range, end }, seen);
    if ('rejected' in page) return page;
    const names = await roster(seen);
    const views = viewed(names, page);
    const json = await jsonOf(views);
    older.keep(channelId, range, page, { json, views, names });
    return { json, ...reflectedBy(page) };
  }

  async function asRead(page: Page | Rejection, seen: Position): Promise<Shown | Rejection> {
    if ('rejected' in page) return page;
    return { json: await jsonOf(viewed(await roster(seen), page)), ...reflectedBy(page) };
  }

  async function pins(
    channelId: string,
    seen?: Position,
  ): Promise<Reflected & { readonly body: { readonly messages: readonly MessageView[] } }> {
    const page = await pages.pins(channelId, seen);
    return { body: { messages: viewed(await roster(seen), page) }, ...reflectedBy(page) };
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

const reflectedBy = ({ position, consistency }: Page): Reflected => ({
  position,
  ...(consistency && { consistency }),
});

/** In turns: messages may be long, and many. */
async function jsonOf(messages: readonly MessageView[]): Promise<Uint8Array> {
  const pieces: Buffer[] = [];
  for (const each of messages) {
    if (isTurnOver()) await nextTurn();
    pieces.push(Buffer.from(`${pieces.length === 0 ? '{"messages":[' : ','}${JSON.stringify(each)}`));
  }
  return Buffer.concat([...pieces, Buffer.from(pieces.length === 0 ? '{"messages":[]}' : ']}')]);
}
