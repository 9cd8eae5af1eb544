/** What readers are shown of what was said: pages with everybody's names, as JSON. */
import type { RosterState } from '../../../domain/chat/roster.js';
import type { Rejection } from '../../../domain/shared/index.js';
import { type Consistency, maxPosition } from '../../consistency/index.js';
import { serializeList } from '../../json/serialize-list.js';
import type { Position } from '../../ports/index.js';
import type { Authentication } from '../sign-in/authenticate.js';
import { type MessageView, messageView, type ReplyView, replyView } from '../view-models.js';
import type { WritePositions } from './acknowledged-positions.js';
import type { OlderPages, OlderRange } from './older-pages.js';
import { type HotPages, KEPT } from './page-cache.js';
import type { Page, Pages, Range } from './page-query.js';
import { createPageThrottle, type Reader } from './page-throttle.js';

export interface ReadingPorts {
  readonly admission: Authentication;
  readonly pages: Pages;
  readonly hot: HotPages;
  readonly older: OlderPages;
  readonly acknowledged: WritePositions;
}

/** The JSON of `{messages}`, or of `{replies}`. */
export interface RenderedPage extends Consistency {
  readonly json: string | Uint8Array;
  /** From memory: there was nothing to wait for. */
  readonly fromCache?: true;
}

/** A page of a list, and what is owed to who asks for it. */
interface Wanted {
  readonly list: string;
  readonly range: Range;
  readonly seen: Position;
  readonly reflected: Consistency;
}

/** Pins of a channel that are shown: the newest. */
const MOST_PINS = 500;

export type Reading = ReturnType<typeof createReading>;

export function createReading({ admission, pages, hot, older, acknowledged }: ReadingPorts) {
  const inTurn = createPageThrottle();
  const roster = async (seen?: Position): Promise<RosterState> => (await admission.roster(seen)).state;

  const viewed = (names: RosterState, { found }: Page): readonly MessageView[] =>
    found.map(({ message }) => messageView(names, message));

  /** Whether what is in memory shows all that a reader is owed. */
  const cacheIsCurrent = async (channelId: string, seen: Position) =>
    seen <= hot.heard() && (await hot.hears(acknowledged.latest(channelId)));

  /** Made once for all who wait for it when it begins: it shows what is owed to each. */
  async function shared(
    { list, range: { limit, before }, seen, reflected }: Wanted,
    asking: Reader,
    make: () => Promise<RenderedPage | Rejection>,
  ): Promise<RenderedPage | Rejection> {
    // Whoever makes it knows the names that each has seen.
    await roster(seen);
    const key = JSON.stringify([list, limit, before]);
    const shown = await inTurn(limit, asking, make, { key, bytes: bytesOf });
    if ('rejected' in shown) return shown;
    const position = maxPosition(shown.position, reflected.position);
    return { json: shown.json, ...reflectedBy({ ...reflected, position }) };
  }

  async function messages(
    asking: Reader,
    channelId: string,
    range: Range,
    seen = 0n,
  ): Promise<RenderedPage | Rejection> {
    const { limit, before } = range;
    const hasWaited = hot.heard() < acknowledged.latest(channelId);
    const mayBeKept = before !== undefined || limit <= KEPT;
    const isHot = mayBeKept && (await cacheIsCurrent(channelId, seen));
    const shown = isHot ? await cached(channelId, range, seen) : undefined;
    if (shown) return hasWaited ? shown : { ...shown, fromCache: true };
    if (before !== undefined) return olderMessages(asking, channelId, { limit, before }, seen);
    const reflected = await pages.awaitRows('chat.messages', channelId, maxPosition(seen, hot.heard()));
    // A page that is not all that was heard is not kept.
    if (limit > KEPT || reflected.consistency)
      return shared({ list: channelId, range, seen, reflected }, asking, async () =>
        asRead(await pages.messages(channelId, range, reflected), seen),
      );
    return inTurn(limit, asking, async () => {
      // Who was waited for may have read it.
      const filled = isHot ? await cached(channelId, range, seen) : undefined;
      if (filled) return filled;
      const newest = (heard: Position) => pages.newest(channelId, KEPT, maxPosition(seen, heard));
      const page = await hot.fill(channelId, newest);
      return asRead({ ...page, found: page.found.slice(-limit) }, seen);
    });
  }

  /** What is in memory, shown as everything that was heard makes it. */
  async function cached(
    channelId: string,
    { limit, before }: Range,
    seen: Position,
  ): Promise<RenderedPage | undefined> {
    const names = await roster(seen);
    const json =
      before === undefined ? hot.show(channelId, limit, names) : older.show(channelId, { limit, before }, names);
    return json === undefined ? undefined : { json, position: hot.heard() };
  }

  async function olderMessages(
    asking: Reader,
    channelId: string,
    range: OlderRange,
    seen: Position,
  ): Promise<RenderedPage | Rejection> {
    const reflected = await pages.awaitRows('chat.messages', channelId, seen);
    return shared({ list: channelId, range, seen, reflected }, asking, async () => {
      const end = older.placeOf(channelId, range.before);
      const page = await pages.messages(channelId, { ...range, end }, reflected);
      if ('rejected' in page) return page;
      const names = await roster(seen);
      const views = viewed(names, page);
      const json = await serializeList('messages', views);
      older.keep(channelId, range, page, { json, views, names });
      return { json, ...reflectedBy(page) };
    });
  }

  async function asRead(page: Page | Rejection, seen: Position): Promise<RenderedPage | Rejection> {
    if ('rejected' in page) return page;
    return {
      json: await serializeList('messages', viewed(await roster(seen), page)),
      ...reflectedBy(page),
    };
  }

  async function pins(asking: Reader, channelId: string, seen = 0n): Promise<RenderedPage | Rejection> {
    const reflected = await pages.awaitRows('chat.messages', channelId, seen);
    /** Undefined where there are more. */
    const upTo = (limit: number) =>
      inTurn(limit, asking, async () => {
        const page = await pages.pins(channelId, limit, reflected);
        return limit < MOST_PINS && page.found.length === limit ? undefined : asRead(page, seen);
      });
    return (await upTo(KEPT)) ?? (await upTo(MOST_PINS))!;
  }

  async function replies(
    asking: Reader,
    channelId: string,
    threadId: string,
    range: Range,
    seen = 0n,
  ): Promise<RenderedPage | Rejection> {
    const reflected = await pages.awaitRows('chat.replies', channelId, seen);
    return shared({ list: threadId, range, seen, reflected }, asking, async () => {
      const page = await pages.replies(channelId, threadId, range, reflected);
      if ('rejected' in page) return page;
      const { replies: found, ...shown } = page;
      const names = await roster(seen);
      const views = found.map((each): ReplyView => replyView(names, each));
      return { json: await serializeList('replies', views), ...shown };
    });
  }

  return { messages, pins, replies };
}

const bytesOf = (shown: RenderedPage | Rejection): number => ('rejected' in shown ? 1 : shown.json.length);

const reflectedBy = ({ position, consistency }: Consistency): Consistency => ({
  position,
  ...(consistency && { consistency }),
});
