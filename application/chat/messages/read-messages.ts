/** Renders pages of messages, pins and replies as JSON, from the page cache or MongoDB. */
import type { RosterState } from '../../../domain/chat/roster.js';
import type { Rejection } from '../../../domain/shared/index.js';
import { createFairSemaphore, serializeList, type WaitOptions } from '../../concurrency/index.js';
import { type Consistency, maxPosition, type WritePositions } from '../../consistency/index.js';
import type { Position } from '../../ports/index.js';
import type { ChatPorts } from '../sign-in/authenticate.js';
import type { MessageList, Page, PageQueries, Range } from './message-rows.js';
import { messageView } from './message-view.js';
import { CACHED_PAGE_SIZE, nameOfList, type PageCache } from './page-cache.js';

export interface MessageReaderPorts extends Pick<ChatPorts, 'admission'> {
  readonly pages: PageQueries;
  readonly pageCache: PageCache;
  readonly writePositions: WritePositions;
}

/** Reader of a page; readers are served round-robin. */
export interface Reader {
  readonly userId: string;
  /** The request; its abort cancels waiting. */
  readonly request: NonNullable<WaitOptions['request']>;
}

/** JSON `{messages}` or `{replies}`. */
export interface RenderedPage extends Consistency {
  readonly json: string | Uint8Array;
  /** Served from memory without waiting. */
  readonly fromCache?: true;
}

const MAX_PINS = 500;

export type MessageReader = ReturnType<typeof createMessageReader>;

export function createMessageReader({ admission, pages, pageCache, writePositions }: MessageReaderPorts) {
  const throttle = createPageThrottle();
  const roster = async (seen: Position): Promise<RosterState> => (await admission.roster(seen)).state;

  const isCacheCurrent = async (channelId: string, seen: Position) =>
    seen <= pageCache.feedPosition() && (await pageCache.waitForFeed(writePositions.latest(channelId)));

  /** Renders from the cache, as of the last event it has taken. */
  async function renderCached(list: MessageList, range: Range, seen: Position): Promise<RenderedPage | undefined> {
    const json = pageCache.render(list, range, await roster(seen));
    return json === undefined ? undefined : { json, position: pageCache.feedPosition() };
  }

  async function readList(
    reader: Reader,
    list: MessageList,
    range: Range,
    seen = 0n,
  ): Promise<RenderedPage | Rejection> {
    const { channelId, threadId } = list;
    const { limit, before, after } = range;
    const hasWaited = pageCache.feedPosition() < writePositions.latest(channelId);
    const isCacheable = limit <= CACHED_PAGE_SIZE && after === undefined;
    const isCurrent = isCacheable && (await isCacheCurrent(channelId, seen));
    const cached = isCurrent ? await renderCached(list, range, seen) : undefined;
    if (cached) return hasWaited ? cached : { ...cached, fromCache: true };
    const awaitRows = (changedAt: Position) => pages.awaitRows(channelId, maxPosition(seen, changedAt));
    const freshness = await awaitRows(pageCache.changedAt(list));
    // Rendered once for all readers that wait with the same key: with names at least as new as each of them has seen.
    await roster(seen);
    // A page from the cache is not for those who must see more.
    const key = JSON.stringify([channelId, threadId, limit, before, after, isCurrent]);
    const render = async () => {
      if (!isCacheable || freshness.consistency)
        return renderPage(await pages.messages(list, range, freshness), seen, nameOfList(list));
      // An earlier job may have filled the cache meanwhile.
      const filled = isCurrent ? await renderCached(list, range, seen) : undefined;
      if (filled) return filled;
      const page = await pageCache.fill(list, range, async (whole, changedAt) =>
        pages.messages(list, whole, await awaitRows(changedAt)),
      );
      const requested = 'rejected' in page ? page : { ...page, found: page.found.slice(-limit) };
      return renderPage(requested, seen, nameOfList(list));
    };
    const page = await throttle(limit, reader, render, key);
    if ('rejected' in page) return page;
    return { ...freshness, json: page.json, position: maxPosition(page.position, freshness.position) };
  }

  const messages = (reader: Reader, channelId: string, range: Range, seen?: Position) =>
    readList(reader, { channelId }, range, seen);

  const replies = (reader: Reader, channelId: string, threadId: string, range: Range, seen?: Position) =>
    readList(reader, { channelId, threadId }, range, seen);

  async function renderPage(
    page: Page | Rejection,
    seen: Position,
    name: ReturnType<typeof nameOfList> = 'messages',
  ): Promise<RenderedPage | Rejection> {
    if ('rejected' in page) return page;
    const { found, ...freshness } = page;
    const names = await roster(seen);
    const views = found.map(({ message }) => messageView(names, message));
    return { json: await serializeList(name, views), ...freshness };
  }

  async function pins(reader: Reader, channelId: string, seen = 0n): Promise<RenderedPage | Rejection> {
    const freshness = await pages.awaitRows(channelId, seen);
    /** Undefined when there are more pins than `limit`. */
    const renderPins = (limit: number) =>
      throttle(limit, reader, async () => {
        const page = await pages.pins(channelId, limit, freshness);
        return limit < MAX_PINS && page.found.length === limit ? undefined : renderPage(page, seen);
      });
    return (await renderPins(CACHED_PAGE_SIZE)) ?? (await renderPins(MAX_PINS))!;
  }

  return { messages, pins, replies };
}

const CONCURRENCY = 8;
const MAX_WAITING = 1000;
/** The same for longer pages: one may be 16 MB, and is in memory several times while it is built. */
const LONG_CONCURRENCY = 1;
const MAX_LONG_WAITING = 200;
/** Bytes. A page shared by several readers stays in memory until each has received it. */
const MAX_SHARED_BYTES = 8 * 1024 * 1024;

type MaybePage = RenderedPage | Rejection | undefined;

/**
 * Limits concurrent rendering of pages of up to `limit` messages, fairly per reader. Rejects with `UnavailableError` when
 * too many wait or the client disconnects. Wait for rows before calling: readers with equal keys share one page.
 */
export function createPageThrottle() {
  const short = createFairSemaphore('a page', CONCURRENCY, MAX_WAITING);
  const long = createFairSemaphore('a long page', LONG_CONCURRENCY, MAX_LONG_WAITING);
  return <Made extends MaybePage>(
    limit: number,
    { userId, request }: Reader,
    make: () => Promise<Made>,
    coalesceKey?: string,
  ): Promise<Made> =>
    (limit > CACHED_PAGE_SIZE ? long : short)(make, userId, {
      request,
      ...(coalesceKey !== undefined && { coalesceKey, maxSharers: (page) => MAX_SHARED_BYTES / bytesOf(page) }),
    });
}

const bytesOf = (page: MaybePage): number => (page && 'json' in page ? page.json.length : 1);
