/** Caches pages of messages of channels and conversations, kept current by the live feed. Bounded in bytes. */
import { LRUCache } from 'lru-cache';
import type { ChatEvent } from '../../../domain/chat/catalog.js';
import { messageEvents, parentOf, threadEvents } from '../../../domain/chat/events/messages.js';
import type { RosterState } from '../../../domain/chat/roster.js';
import { ownEntry, type Rejection } from '../../../domain/shared/index.js';
import { estimateBytes } from '../../concurrency/index.js';
import { createPositionTracker, createWritePositions } from '../../consistency/index.js';
import type { Cache, Position, RevealedEvent } from '../../ports/index.js';
import type { MessageAt, Page, Range, RangeWithEnd } from './message-rows.js';
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
  readonly channelId: string;
  /** The message before which the page ends; undefined for the newest page. */
  readonly before: string | undefined;
  /** By message id, oldest first. */
  entries: Map<string, Entry>;
  /** Position of the newest post. */
  newest: Position;
  /** True while the channel has no messages older than these. */
  isWhole: boolean;
  /** The roster, as of which `rendered` and the entries were rendered. */
  roster: RosterState | undefined;
  rendered: { readonly limit: number; readonly json: string } | undefined;
}

type MessageUpdate = RevealedEvent<MessageChange>;

export type PageCache = ReturnType<typeof createPageCache>;

/** One page of the newest messages serves all limits. */
const keyOf = (channelId: string, { limit, before }: Range): string =>
  before === undefined ? channelId : `${channelId} ${before} ${limit}`;

export function createPageCache(limitBytes = DEFAULT_LIMIT_BYTES) {
  const pages = new LRUCache<string, CachedPage>({
    maxSize: limitBytes,
    maxEntrySize: limitBytes / 2,
    sizeCalculation({ entries }, key) {
      let bytes = estimateBytes(key) + PAGE_BYTES;
      for (const each of entries.values()) bytes += each.bytes + (each.rendered?.bytes ?? 0);
      return bytes;
    },
    dispose({ channelId }, key) {
      const keys = keysOf.get(channelId);
      keys?.delete(key);
      if (keys?.size === 0) keysOf.delete(channelId);
    },
  });
  const keysOf = new Map<string, Set<string>>();
  /** Events that arrive while pages of a channel are being read. */
  const filling = new Map<string, Set<MessageUpdate[]>>();
  const changes = createWritePositions();
  const feed = createPositionTracker();

  function store(key: string, page: CachedPage) {
    // Recomputes the size; the cache drops pages that are too large.
    pages.delete(key);
    pages.set(key, page);
    if (pages.has(key)) keysOf.set(page.channelId, (keysOf.get(page.channelId) ?? new Set()).add(key));
  }

  function onMessageEvent(event: MessageUpdate) {
    const { channelId } = event.data;
    for (const updates of filling.get(channelId) ?? []) updates.push(event);
    const keys = event.type === 'MessagePosted' ? [channelId] : [...(keysOf.get(channelId) ?? [])];
    for (const key of keys) {
      const page = pages.peek(key);
      if (!page || !concerns(event, page)) continue;
      // The page stays evicted if applying the event throws.
      pages.delete(key);
      apply(page, event);
      page.rendered = undefined;
      store(key, page);
    }
  }

  /** Takes every event of the service, in log order. */
  function onEvent(event: RevealedEvent<ChatEvent>) {
    if (event.position <= feed.position()) return;
    try {
      if (event.type === 'ChannelDeleted') {
        const { channelId } = event.data;
        changes.note(channelId, event.position);
        filling.delete(channelId);
        for (const key of [...(keysOf.get(channelId) ?? [])]) pages.delete(key);
      } else if (isMessageEvent(event)) {
        changes.note(event.data.channelId, event.position);
        onMessageEvent(event);
      }
    } finally {
      feed.advance(event.position);
    }
  }

  function postedPosition(channelId: string, messageId: string): Position | undefined {
    for (const key of keysOf.get(channelId) ?? []) {
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
    /** Position of the last event that changed messages of a channel, or later. */
    changedAt: changes.latest,

    /** Renders a page as `{messages}` JSON; undefined when its messages are not all cached. */
    render(channelId: string, range: Range, roster: RosterState): string | undefined {
      const { limit } = range;
      const key = keyOf(channelId, range);
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
      const json = `{"messages":[${texts.join()}]}`;
      page.rendered = { limit, json };
      store(key, page);
      return json;
    },

    /**
     * Reads the page that contains a range from MongoDB, and caches it with the events that arrive meanwhile. The rows
     * must include everything up to `changedAt`; pending pages are not cached.
     */
    async fill<Read extends Page | Rejection>(
      channelId: string,
      range: Range,
      read: (range: RangeWithEnd, changedAt: Position) => Promise<Read>,
    ): Promise<Read> {
      const updates: MessageUpdate[] = [];
      const all = filling.get(channelId) ?? new Set();
      filling.set(channelId, all.add(updates));
      try {
        const { before } = range;
        const limit = before === undefined ? CACHED_PAGE_SIZE : range.limit;
        const end = before === undefined ? undefined : postedPosition(channelId, before);
        const result = await read({ ...range, limit, end }, changes.latest(channelId));
        // The channel may have been deleted while the page was read.
        if ('rejected' in result || result.consistency || filling.get(channelId) !== all) return result;
        const entries = new Map(result.found.map((each) => [each.message.id, createEntry(each)]));
        const newest = result.found.at(-1)?.posted ?? 0n;
        const rest = { isWhole: entries.size < limit, roster: undefined, rendered: undefined };
        const page: CachedPage = { channelId, before, entries, newest, ...rest };
        for (const event of updates) if (concerns(event, page)) apply(page, event);
        store(keyOf(channelId, range), page);
        return result;
      } finally {
        all.delete(updates);
        if (all.size === 0 && filling.get(channelId) === all) filling.delete(channelId);
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

/** Whether an event changes a page; rows may already have included it. */
function concerns(event: MessageUpdate, { before, entries }: CachedPage): boolean {
  const known = entries.get(event.data.messageId);
  return event.type === 'MessagePosted' ? before === undefined && !known : !!known && known.at < event.position;
}

function apply(page: CachedPage, event: MessageUpdate): void {
  const { messageId: id } = event.data;
  const known = page.entries.get(id);
  const message = messageAfter(known?.message, event);
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

/** Whether an event is about a message or its thread; those about single replies change no cached page. */
function isMessageEvent(event: RevealedEvent<ChatEvent>): event is MessageUpdate {
  if (!ownEntry(messageEvents, event.type) && !ownEntry(threadEvents, event.type)) return false;
  return parentOf((event as MessageUpdate).data.messageId) === undefined;
}
