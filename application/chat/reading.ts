/** What readers are shown of what was said: pages with everybody's names, as JSON. */
import type { RosterState } from '../../domain/chat/roster.js';
import type { Rejection } from '../../domain/shared/decider.js';
import { jsonBytes } from '../json-bytes.js';
import type { Position } from '../ports.js';
import { later, type Reflected } from '../reflecting.js';
import type { Caller, ChatAdmission } from './admission.js';
import { type HotPages, KEPT } from './hot.js';
import type { OlderPages, OlderRange } from './older.js';
import { createPageTurns } from './page-turns.js';
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

/** The JSON of `{messages}`, or of `{replies}`. */
export interface Shown extends Reflected {
  readonly json: string | Uint8Array;
}

/** Who is shown it: of all who ask each has their turn. */
type Asking = Pick<Caller, 'userId'>;

/** Pins of a channel that are shown: the newest. */
const MOST_PINS = 500;

export type Reading = ReturnType<typeof createReading>;

export function createReading({ admission, pages, hot, older, acknowledged }: ReadingPorts) {
  const inTurn = createPageTurns();
  const roster = async (seen?: Position): Promise<RosterState> => (await admission.roster(seen)).state;

  const viewed = (names: RosterState, { found }: Page): readonly MessageView[] =>
    found.map(({ message }) => messageView(names, message));

  /** Whether what is in memory shows all that a reader is owed. */
  const isHeard = async (channelId: string, seen: Position) =>
    seen <= hot.heard() && (await hot.hears(acknowledged.latest(channelId)));

  async function messages(
    by: Asking,
    channelId: string,
    range: Range,
    seen = 0n,
  ): Promise<Shown | Rejection> {
    const { limit, before } = range;
    if (before !== undefined) return olderMessages(by, channelId, { limit, before }, seen);
    const isHot = limit <= KEPT && (await isHeard(channelId, seen));
    const shown = isHot ? await hotMessages(channelId, limit, seen) : undefined;
    if (shown) return shown;
    const reflected = await pages.owed('chat.messages', channelId, later(seen, hot.heard()));
    // A page that is not all that was heard is not kept.
    if (limit > KEPT || reflected.consistency)
      return inTurn(limit, by.userId, async () =>
        asRead(await pages.messages(channelId, range, reflected), seen),
      );
    return inTurn(limit, by.userId, async () => {
      // Who was waited for may have read it.
      const filled = isHot ? await hotMessages(channelId, limit, seen) : undefined;
      if (filled) return filled;
      const newest = (heard: Position) => pages.newest(channelId, KEPT, later(seen, heard));
      const page = await hot.fill(channelId, newest);
      return asRead({ ...page, found: page.found.slice(-limit) }, seen);
    });
  }

  async function hotMessages(channelId: string, limit: number, seen: Position): Promise<Shown | undefined> {
    const json = hot.show(channelId, limit, await roster(seen));
    return json === undefined ? undefined : { json, position: hot.heard() };
  }

  async function olderMessages(
    by: Asking,
    channelId: string,
    range: OlderRange,
    seen: Position,
  ): Promise<Shown | Rejection> {
    if (await isHeard(channelId, seen)) {
      const json = older.show(channelId, range, await roster(seen));
      if (json !== undefined) return { json, position: hot.heard() };
    }
    const reflected = await pages.owed('chat.messages', channelId, seen);
    return inTurn(range.limit, by.userId, async () => {
      const end = older.placeOf(channelId, range.before);
      const page = await pages.messages(channelId, { ...range, end }, reflected);
      if ('rejected' in page) return page;
      const names = await roster(seen);
      const views = viewed(names, page);
      const json = await jsonBytes('messages', views);
      older.keep(channelId, range, page, { json, views, names });
      return { json, ...reflectedBy(page) };
    });
  }

  async function asRead(page: Page | Rejection, seen: Position): Promise<Shown | Rejection> {
    if ('rejected' in page) return page;
    return {
      json: await jsonBytes('messages', viewed(await roster(seen), page)),
      ...reflectedBy(page),
    };
  }

  async function pins(by: Asking, channelId: string, seen = 0n): Promise<Shown | Rejection> {
    const reflected = await pages.owed('chat.messages', channelId, seen);
    /** Undefined where there are more. */
    const upTo = (limit: number) =>
      inTurn(limit, by.userId, async () => {
        const page = await pages.pins(channelId, limit, reflected);
        return limit < MOST_PINS && page.found.length === limit ? undefined : asRead(page, seen);
      });
    return (await upTo(KEPT)) ?? (await upTo(MOST_PINS))!;
  }

  async function replies(
    by: Asking,
    channelId: string,
    threadId: string,
    range: Range,
    seen?: Position,
  ): Promise<Shown | Rejection> {
    const reflected = await pages.owed('chat.replies', channelId, seen);
    return inTurn(range.limit, by.userId, async () => {
      const page = await pages.replies(channelId, threadId, range, reflected);
      if ('rejected' in page) return page;
      const { replies: found, ...shown } = page;
      const names = await roster(seen);
      const views = found.map((each): ReplyView => replyView(names, each));
      return { json: await jsonBytes('replies', views), ...shown };
    });
  }

  return { messages, pins, replies };
}

const reflectedBy = ({ position, consistency }: Page): Reflected => ({
  position,
  ...(consistency && { consistency }),
});
