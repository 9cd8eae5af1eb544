/** Renders pages of messages, pins and replies as JSON, from the caches or MongoDB. */
import type { RosterState } from '../../../domain/chat/roster.js';
import type { Rejection } from '../../../domain/shared/index.js';
import { type Consistency, maxPosition, type WritePositions } from '../../consistency/index.js';
import { serializeList } from '../../json/serialize-list.js';
import type { Position } from '../../ports/index.js';
import type { Authentication } from '../sign-in/authenticate.js';
import { type MessageView, messageView, type ReplyView, replyView } from '../view-models.js';
import type { OlderPages, OlderRange } from './older-pages.js';
import { CACHED_PAGE_SIZE, type PageCache } from './page-cache.js';
import type { Page, PageQueries, Range } from './page-query.js';
import { createPageThrottle, type Reader } from './page-throttle.js';

export interface MessageReaderPorts {
  readonly admission: Authentication;
  readonly pages: PageQueries;
  readonly pageCache: PageCache;
  readonly olderPages: OlderPages;
  readonly writePositions: WritePositions;
}

/** JSON `{messages}` or `{replies}`. */
export interface RenderedPage extends Consistency {
  readonly json: string | Uint8Array;
  /** Served from memory without waiting. */
  readonly fromCache?: true;
}

/** Page of a list, with the positions the reader must see. */
interface PageRequest {
  readonly list: string;
  readonly range: Range;
  readonly seen: Position;
  readonly freshness: Consistency;
}

/** Pins returned per channel, newest first. */
const MAX_PINS = 500;

export type MessageReader = ReturnType<typeof createMessageReader>;

export function createMessageReader({ admission, pages, pageCache, olderPages, writePositions }: MessageReaderPorts) {
  const throttle = createPageThrottle();
  const roster = async (seen?: Position): Promise<RosterState> => (await admission.roster(seen)).state;

  const toViews = (names: RosterState, { found }: Page): readonly MessageView[] =>
    found.map(({ message }) => messageView(names, message));

  /** Whether the caches include everything the reader must see. */
  const isCacheCurrent = async (channelId: string, seen: Position) =>
    seen <= pageCache.feedPosition() && (await pageCache.waitForFeed(writePositions.latest(channelId)));

  /** Renders once for all readers of the same page that wait at the same time. */
  async function renderShared(
    { list, range: { limit, before }, seen, freshness }: PageRequest,
    reader: Reader,
    make: () => Promise<RenderedPage | Rejection>,
  ): Promise<RenderedPage | Rejection> {
    // The shared job then renders with names at least as new as each reader has seen.
    await roster(seen);
    const key = JSON.stringify([list, limit, before]);
    const page = await throttle(limit, reader, make, { key, bytes: bytesOf });
    if ('rejected' in page) return page;
    const position = maxPosition(page.position, freshness.position);
    return { json: page.json, ...freshnessOf({ ...freshness, position }) };
  }

  async function messages(
    reader: Reader,
    channelId: string,
    range: Range,
    seen = 0n,
  ): Promise<RenderedPage | Rejection> {
    const { limit, before } = range;
    const hasWaited = pageCache.feedPosition() < writePositions.latest(channelId);
    const isCacheable = before !== undefined || limit <= CACHED_PAGE_SIZE;
    const isCurrent = isCacheable && (await isCacheCurrent(channelId, seen));
    const page = isCurrent ? await renderCached(channelId, range, seen) : undefined;
    if (page) return hasWaited ? page : { ...page, fromCache: true };
    if (before !== undefined) return olderMessages(reader, channelId, { limit, before }, seen);
    const freshness = await pages.awaitRows('chat.messages', channelId, maxPosition(seen, pageCache.feedPosition()));
    // A page behind the feed is not cached.
    if (limit > CACHED_PAGE_SIZE || freshness.consistency)
      return renderShared({ list: channelId, range, seen, freshness }, reader, async () =>
        renderPage(await pages.messages(channelId, range, freshness), seen),
      );
    return throttle(limit, reader, async () => {
      // An earlier job may have filled the cache meanwhile.
      const filled = isCurrent ? await renderCached(channelId, range, seen) : undefined;
      if (filled) return filled;
      const newest = (feedPosition: Position) =>
        pages.newest(channelId, CACHED_PAGE_SIZE, maxPosition(seen, feedPosition));
      const page = await pageCache.fill(channelId, newest);
      return renderPage({ ...page, found: page.found.slice(-limit) }, seen);
    });
  }

  /** Renders from the caches, as of the last event they have taken. */
  async function renderCached(
    channelId: string,
    { limit, before }: Range,
    seen: Position,
  ): Promise<RenderedPage | undefined> {
    const names = await roster(seen);
    const json =
      before === undefined
        ? pageCache.render(channelId, limit, names)
        : olderPages.get(channelId, { limit, before }, names);
    return json === undefined ? undefined : { json, position: pageCache.feedPosition() };
  }

  async function olderMessages(
    reader: Reader,
    channelId: string,
    range: OlderRange,
    seen: Position,
  ): Promise<RenderedPage | Rejection> {
    const freshness = await pages.awaitRows('chat.messages', channelId, seen);
    return renderShared({ list: channelId, range, seen, freshness }, reader, async () => {
      const end = olderPages.positionOf(channelId, range.before);
      const page = await pages.messages(channelId, { ...range, end }, freshness);
      if ('rejected' in page) return page;
      const names = await roster(seen);
      const views = toViews(names, page);
      const json = await serializeList('messages', views);
      olderPages.store(channelId, range, page, { json, views, names });
      return { json, ...freshnessOf(page) };
    });
  }

  async function renderPage(page: Page | Rejection, seen: Position): Promise<RenderedPage | Rejection> {
    if ('rejected' in page) return page;
    return {
      json: await serializeList('messages', toViews(await roster(seen), page)),
      ...freshnessOf(page),
    };
  }

  async function pins(reader: Reader, channelId: string, seen = 0n): Promise<RenderedPage | Rejection> {
    const freshness = await pages.awaitRows('chat.messages', channelId, seen);
    /** Undefined when there are more pins than `limit`. */
    const renderPins = (limit: number) =>
      throttle(limit, reader, async () => {
        const page = await pages.pins(channelId, limit, freshness);
        return limit < MAX_PINS && page.found.length === limit ? undefined : renderPage(page, seen);
      });
    return (await renderPins(CACHED_PAGE_SIZE)) ?? (await renderPins(MAX_PINS))!;
  }

  async function replies(
    reader: Reader,
    channelId: string,
    threadId: string,
    range: Range,
    seen = 0n,
  ): Promise<RenderedPage | Rejection> {
    const freshness = await pages.awaitRows('chat.replies', channelId, seen);
    return renderShared({ list: threadId, range, seen, freshness }, reader, async () => {
      const page = await pages.replies(channelId, threadId, range, freshness);
      if ('rejected' in page) return page;
      const { replies: found, ...rest } = page;
      const names = await roster(seen);
      const views = found.map((each): ReplyView => replyView(names, each));
      return { json: await serializeList('replies', views), ...rest };
    });
  }

  return { messages, pins, replies };
}

const bytesOf = (page: RenderedPage | Rejection): number => ('rejected' in page ? 1 : page.json.length);

const freshnessOf = ({ position, consistency }: Consistency): Consistency => ({
  position,
  ...(consistency && { consistency }),
});
