/** Caches pages of messages and of replies, kept current by the live feed. Bounded in bytes. */
import { LRUCache } from 'lru-cache';
import type { ChatEvent } from '../../../domain/chat/catalog.js';
import { messageEvents, parentOf, threadEvents } from '../../../domain/chat/events/messages.js';
import type { RosterState } from '../../../domain/chat/roster.js';
import { ownEntry, type Rejection } from '../../../domain/shared/index.js';
import { estimateBytes } from '../../concurrency/index.js';
import { createPositionTracker, createWritePositions } from '../../consistency/index.js';
import type { Cache, Position, RevealedEvent } from '../../ports/index.js';
import type { MessageAt, MessageList, Page, Range } from './message-rows.js';
import { type MessageChange, messageAfter, messageView } from './message-view.js';

/** Messages per cached page at most; longer pages are read from MongoDB. */
export const CACHED_PAGE_SIZE = 100;
/** 160 pages of 100 messages of 200 characters. */
const DEFAULT_LIMIT_BYTES = 25 * 1024 * 1024;
/** Time a reader waits for the feed before falling back to MongoDB. */
const FEED_TIMEOUT_MS = 500;
const ENTRY_BYTES = 350;
const PAGE_BYTES = 800;

interface Entry extends MessageAt {
  readonly bytes: number;
  /** Rendered JSON with the user names of the page's roster; its bytes count the copy in the page as well. */
  rendered?: { readonly json: string; readonly bytes: number };
}

interface CachedPage {
  readonly list: MessageList;
  /** The message before which the page ends; undefined for the newest page. */
  readonly before: string | undefined;
  /** By message id, oldest first. */
  entries: Map<string, Entry>;
  /** Position of the newest post. */
  newest: Position;
  /** True while the list has no messages older than these. */
  isWhole: boolean;
  /** The roster with which `rendered` and the entries were rendered. */
  roster: RosterState | undefined;
  rendered: { readonly limit: number; readonly json: string } | undefined;
}

/** An event that changes the message `id` in a list. */
interface MessageUpdate {
  readonly id: string;
  readonly event: RevealedEvent<MessageChange>;
}

export type PageCache = ReturnType<typeof createPageCache>;

const idOf = ({ channelId, threadId }: MessageList): string => threadId ?? channelId;

/** One page of the newest messages serves all limits. */
const keyOf = (list: MessageList, { limit, before }: Range): string =>
  before === undefined ? idOf(list) : `${idOf(list)} ${before} ${limit}`;

export function createPageCache(limitBytes = DEFAULT_LIMIT_BYTES) {
  const pages = new LRUCache<string, CachedPage>({
    maxSize: limitBytes,
    maxEntrySize: limitBytes / 2,
    sizeCalculation({ entries }, key) {
      let bytes = estimateBytes(key) + PAGE_BYTES;
      for (const each of entries.values()) bytes += each.bytes + (each.rendered?.bytes ?? 0);
      return bytes;
    },
    dispose({ list }, key) {
      const keys = keysOf.get(idOf(list));
      keys?.delete(key);
      if (keys?.size === 0) keysOf.delete(idOf(list));
    },
  });
  /** By list. */
  const keysOf = new Map<string, Set<string>>();
  /** Events that arrive while pages of a list are being read. */
  const filling = new Map<string, Set<MessageUpdate[]>>();
  const changes = createWritePositions();
  const feed = createPositionTracker();

  function store(key: string, page: CachedPage) {
    // Recomputes the size; the cache drops pages that are too large.
    pages.delete(key);
    pages.set(key, page);
    if (pages.has(key)) {
      const id = idOf(page.list);
      keysOf.set(id, (keysOf.get(id) ?? new Set()).add(key));
    }
  }

  function updateList(listId: string, update: MessageUpdate) {
    changes.note(listId, update.event.position);
    for (const updates of filling.get(listId) ?? []) updates.push(update);
    const keys = isAddition(update) ? [listId] : [...(keysOf.get(listId) ?? [])];
    for (const key of keys) {
      const page = pages.peek(key);
      if (!page || !concerns(update, page)) continue;
      // The page stays evicted if applying the event throws.
      pages.delete(key);
      apply(page, update);
      page.rendered = undefined;
      store(key, page);
    }
  }

  function dropList(listId: string) {
    filling.delete(listId);
    for (const key of [...(keysOf.get(listId) ?? [])]) pages.delete(key);
  }

  /** Takes every event of the service, in log order. */
  function onEvent(event: RevealedEvent<ChatEvent>) {
    if (event.position <= feed.position()) return;
    try {
      if (event.type === 'ChannelDeleted') {
        const { channelId } = event.data;
        changes.note(channelId, event.position);
        // Pages of other channels that are being read are not cached either: deletions are rare.
        filling.clear();
        for (const [key, { list }] of [...pages.entries()]) if (list.channelId === channelId) pages.delete(key);
      } else if (isMessageEvent(event)) {
        for (const [listId, id] of changedIn(event)) updateList(listId, { id, event });
        if (event.type === 'MessageDeleted') dropList(event.data.messageId);
      }
    } finally {
      feed.advance(event.position);
    }
  }

  function postedPosition(list: MessageList, messageId: string): Position | undefined {
    for (const key of keysOf.get(idOf(list)) ?? []) {
      const entry = pages.peek(key)?.entries.get(messageId);
      if (entry) return entry.posted;
    }
    return undefined;
  }

  return {
    onEvent,
    feedPosition: feed.position,
    /** Resolves to false on a timeout. */
    waitForFeed: (position: Position) => feed.wait(position, FEED_TIMEOUT_MS),
    /** Position of the last event that changed messages of a list, or later. */
    changedAt: (list: MessageList): Position => changes.latest(idOf(list)),

    /** Renders a page as `{messages}` or `{replies}` JSON; undefined when its messages are not all cached. */
    render(list: MessageList, range: Range, roster: RosterState): string | undefined {
      const { limit } = range;
      const key = keyOf(list, range);
      const page = pages.get(key);
      if (!page || (page.entries.size < limit && !page.isWhole)) return undefined;
      if (page.roster !== roster) {
        for (const each of page.entries.values()) delete each.rendered;
        [page.roster, page.rendered] = [roster, undefined];
      }
      if (page.rendered?.limit === limit) return page.rendered.json;
      const texts = [...page.entries.values()].slice(-limit).map((each) => {
        each.rendered ??= renderEntry(each, roster);
        return each.rendered.json;
      });
      const json = `{"${nameOfList(list)}":[${texts.join()}]}`;
      page.rendered = { limit, json };
      store(key, page);
      return json;
    },

    /**
     * Reads the page that contains a range from MongoDB, and caches it with the events that arrive meanwhile. The rows
     * must include everything up to `changedAt`; pending pages are not cached.
     */
    async fill<Read extends Page | Rejection>(
      list: MessageList,
      range: Range,
      read: (range: Range, changedAt: Position) => Promise<Read>,
    ): Promise<Read> {
      const updates: MessageUpdate[] = [];
      const listId = idOf(list);
      const all = filling.get(listId) ?? new Set();
      filling.set(listId, all.add(updates));
      try {
        const { before } = range;
        const limit = before === undefined ? CACHED_PAGE_SIZE : range.limit;
        const end = before === undefined ? undefined : postedPosition(list, before);
        const result = await read({ ...range, limit, end }, changes.latest(listId));
        // The channel may have been deleted while the page was read.
        if ('rejected' in result || result.consistency || filling.get(listId) !== all) return result;
        const entries = new Map(result.found.map((each) => [each.message.id, createEntry(each)]));
        const newest = result.found.at(-1)?.posted ?? 0n;
        const rest = { isWhole: entries.size < limit, roster: undefined, rendered: undefined };
        const page: CachedPage = { list, before, entries, newest, ...rest };
        for (const update of updates) if (concerns(update, page)) apply(page, update);
        store(keyOf(list, range), page);
        return result;
      } finally {
        all.delete(updates);
        if (all.size === 0 && filling.get(listId) === all) filling.delete(listId);
      }
    },

    cache: { name: 'chat.pages', limitBytes, bytes: () => pages.calculatedSize } satisfies Cache,
  };
}

const createEntry = (found: MessageAt): Entry => ({ ...found, bytes: ENTRY_BYTES + estimateBytes(found.message) });

function renderEntry({ message }: Entry, roster: RosterState): NonNullable<Entry['rendered']> {
  const json = JSON.stringify(messageView(roster, message));
  return { json, bytes: 2 * estimateBytes(json) };
}

/** Key of the messages in an answer. */
export const nameOfList = ({ threadId }: MessageList) => (threadId === undefined ? 'messages' : 'replies');

/** Whether an event adds the message to the list. */
const isAddition = ({ id, event }: MessageUpdate): boolean =>
  event.type === 'MessagePosted' || (event.type === 'ReplyPosted' && event.data.replyId === id);

/** Whether an event changes a page; rows may already have included it. */
function concerns(update: MessageUpdate, { before, entries }: CachedPage): boolean {
  const known = entries.get(update.id);
  return isAddition(update) ? before === undefined && !known : !!known && known.at < update.event.position;
}

function apply(page: CachedPage, { id, event }: MessageUpdate): void {
  const known = page.entries.get(id);
  const message = messageAfter(id, known?.message, event);
  if (!message) return void page.entries.delete(id);
  page.entries.set(id, createEntry({ message, posted: known?.posted ?? event.position, at: event.position }));
  if (known) return;
  // The rows may already contain later posts.
  if (event.position > page.newest) page.newest = event.position;
  else page.entries = new Map([...page.entries].sort(([, a], [, b]) => (a.posted < b.posted ? -1 : 1)));
  if (page.entries.size <= CACHED_PAGE_SIZE) return;
  const [oldest] = page.entries.keys();
  page.entries.delete(oldest!);
  page.isWhole = false;
}

const isMessageEvent = (event: RevealedEvent<ChatEvent>): event is RevealedEvent<MessageChange> =>
  !!ownEntry(messageEvents, event.type) || !!ownEntry(threadEvents, event.type);

/** The lists that an event changes, each with the message that changes there. */
function changedIn({ type, data }: RevealedEvent<MessageChange>): readonly (readonly [listId: string, id: string])[] {
  const { messageId, channelId } = data;
  if (type === 'ReplyPosted' || type === 'ReplyRemoved')
    return [
      [channelId, messageId],
      [messageId, data.replyId],
    ];
  // A reply is not in its thread yet when it is written.
  return type === 'ReplyWritten' ? [] : [[parentOf(messageId) ?? channelId, messageId]];
}
