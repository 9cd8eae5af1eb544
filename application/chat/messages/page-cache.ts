/**
 * Caches the newest messages of channels and conversations that are read, updated from the live feed. Bounded in bytes;
 * anything else is read from MongoDB.
 */
import { LRUCache } from 'lru-cache';
import type { ChatEvent } from '../../../domain/chat/catalog.js';
import type { MessageEvent } from '../../../domain/chat/message.js';
import type { RosterState } from '../../../domain/chat/roster.js';
import { ownEntry } from '../../../domain/shared/index.js';
import { createPositionTracker } from '../../consistency/index.js';
import { estimateBytes } from '../../memory/estimate-size.js';
import type { Cache, Position, RevealedEvent } from '../../ports/index.js';
import { type MessageSnapshot, messageView } from '../view-models.js';
import type { Page } from './page-query.js';
import type { MessageAt } from './row-mapper.js';

/** Messages per cached page. Longer and older pages are read from MongoDB. */
export const CACHED_PAGE_SIZE = 100;
/** 100 pages of 100 messages of 200 characters take 15 MiB. */
const DEFAULT_LIMIT_BYTES = 17 * 1024 * 1024;
/** Time a reader waits for the feed before falling back to MongoDB. */
const FEED_TIMEOUT_MS = 500;
const ENTRY_BYTES = 350;

interface Entry extends MessageAt {
  readonly bytes: number;
  /** Rendered JSON of this message with the user names of `names`; its bytes count the copy in the page as well. */
  rendered?: { readonly json: string; readonly bytes: number };
}

interface CachedChannel {
  /** Oldest first. */
  readonly entries: Map<string, Entry>;
  /** True while the channel has no messages older than these. */
  isWhole: boolean;
  names: RosterState | undefined;
  /** Last rendered page, by its limit. */
  rendered: { readonly limit: number; readonly json: string } | undefined;
}

type MessageUpdate = RevealedEvent<MessageEvent>;

export interface PageCache {
  /** Takes every event of the service, in log order. */
  onEvent(event: RevealedEvent<ChatEvent>): void;
  /** Position up to which events are included. */
  feedPosition(): Position;
  /** Waits until the cache includes a position; resolves false on timeout. */
  waitForFeed(position: Position): Promise<boolean>;
  /** Renders the newest `limit` messages as `{messages}` JSON; undefined when they are not all cached. */
  render(channelId: string, limit: number, names: RosterState): string | undefined;
  /** Reads a page of `CACHED_PAGE_SIZE` messages and caches it unless the read was behind the feed. */
  fill<Read extends Pick<Page, 'found' | 'consistency'>>(
    channelId: string,
    read: (seen: Position) => Promise<Read>,
  ): Promise<Read>;
  readonly cache: Cache;
}

export function createPageCache(limitBytes = DEFAULT_LIMIT_BYTES): PageCache {
  const pages = new LRUCache<string, CachedChannel>({
    maxSize: limitBytes,
    maxEntrySize: limitBytes / 2,
    sizeCalculation: ({ entries }, channelId) => {
      let bytes = estimateBytes(channelId) + ENTRY_BYTES;
      for (const each of entries.values()) bytes += each.bytes + (each.rendered?.bytes ?? 0);
      return bytes;
    },
  });
  /** Events that arrive while a channel's page is being read. */
  const filling = new Map<string, Set<MessageUpdate[]>>();
  const feed = createPositionTracker();

  function onEvent(event: RevealedEvent<ChatEvent>) {
    if (event.position <= feed.position()) return;
    try {
      applyToPage(event);
    } finally {
      feed.advance(event.position);
    }
  }

  function applyToPage(event: RevealedEvent<ChatEvent>) {
    if (event.type === 'ChannelDeleted') dropChannel(event.data.channelId);
    else if (isMessageEvent(event)) {
      const { channelId } = event.data;
      for (const updates of filling.get(channelId) ?? []) updates.push(event);
      const page = pages.peek(channelId);
      if (!page) return;
      // The page stays evicted if applying the event throws.
      pages.delete(channelId);
      apply(page, event);
      page.rendered = undefined;
      store(channelId, page);
    }
  }

  function dropChannel(channelId: string) {
    pages.delete(channelId);
    filling.delete(channelId);
  }

  /** Recomputes the size; the cache drops pages that are too large. */
  function store(channelId: string, page: CachedChannel) {
    pages.delete(channelId);
    pages.set(channelId, page);
  }

  return {
    onEvent,
    feedPosition: feed.position,
    waitForFeed: (position) => feed.wait(position, FEED_TIMEOUT_MS),

    render(channelId, limit, names) {
      const page = pages.get(channelId);
      if (!page || (page.entries.size < limit && !page.isWhole)) return undefined;
      if (page.names !== names) {
        for (const each of page.entries.values()) delete each.rendered;
        [page.names, page.rendered] = [names, undefined];
      }
      if (page.rendered?.limit !== limit) {
        const newest = [...page.entries.values()].slice(-limit);
        const texts = newest.map((each) => {
          each.rendered ??= renderEntry(each, names);
          return each.rendered.json;
        });
        page.rendered = { limit, json: `{"messages":[${texts.join()}]}` };
        store(channelId, page);
        return page.rendered.json;
      }
      return page.rendered.json;
    },

    async fill(channelId, read) {
      const updates: MessageUpdate[] = [];
      const all = filling.get(channelId) ?? new Set();
      filling.set(channelId, all.add(updates));
      try {
        const result = await read(feed.position());
        // The channel may have been deleted while the page was read.
        if (result.consistency || filling.get(channelId) !== all) return result;
        const entries = new Map(result.found.map((each) => [each.message.id, createEntry(each)]));
        const page: CachedChannel = {
          entries,
          isWhole: entries.size < CACHED_PAGE_SIZE,
          names: undefined,
          rendered: undefined,
        };
        for (const event of updates) apply(page, event);
        store(channelId, page);
        return result;
      } finally {
        all.delete(updates);
        if (all.size === 0 && filling.get(channelId) === all) filling.delete(channelId);
      }
    },

    cache: { name: 'chat.hot', limitBytes, bytes: () => pages.calculatedSize },
  };
}

const createEntry = (found: MessageAt): Entry => ({
  ...found,
  bytes: ENTRY_BYTES + estimateBytes(found.message),
});

function renderEntry({ message }: Entry, names: RosterState): NonNullable<Entry['rendered']> {
  const json = JSON.stringify(messageView(names, message));
  return { json, bytes: 2 * estimateBytes(json) };
}

function apply(page: CachedChannel, event: MessageUpdate): void {
  const { messageId: id } = event.data;
  const known = page.entries.get(id);
  if (event.type === 'MessagePosted') {
    if (!known) page.entries.set(id, createEntry({ message: createSnapshot(event), at: event.position }));
    while (page.entries.size > CACHED_PAGE_SIZE) {
      const [oldest] = page.entries.keys();
      page.entries.delete(oldest!);
      page.isWhole = false;
    }
    return;
  }
  // The row already included this event.
  if (!known || known.at >= event.position) return;
  if (event.type === 'MessageDeleted') return void page.entries.delete(id);
  const message = updateSnapshot(known.message, event);
  page.entries.set(id, createEntry({ message, at: event.position }));
}

function createSnapshot({ data }: RevealedEvent<ChatEvent<'MessagePosted'>>): MessageSnapshot {
  const { messageId: id, secret: body, ...rest } = data;
  return { id, ...rest, body, updatedAt: null, pinnedAt: null, reactions: {}, thread: null };
}

function updateSnapshot(
  message: MessageSnapshot,
  event: Exclude<MessageUpdate, { readonly type: 'MessagePosted' | 'MessageDeleted' }>,
): MessageSnapshot {
  switch (event.type) {
    case 'MessageEdited':
    case 'MessagePinned':
    case 'MessageUnpinned': {
      const { quotedMessageId, updatedAt, pinnedAt, secret } = event.data;
      const { reactions: _, ...body } = secret;
      return { ...message, quotedMessageId, updatedAt, pinnedAt, body };
    }
    case 'ReactionAdded': {
      const { userId, secret } = event.data;
      const reactions = { ...message.reactions };
      const before = ownEntry(reactions, secret.reaction) ?? [];
      return { ...message, reactions: { ...reactions, [secret.reaction]: [...before, userId] } };
    }
    case 'ReactionRemoved': {
      const { userId, secret } = event.data;
      const { [secret.reaction]: _, ...others } = message.reactions ?? {};
      const before = ownEntry(message.reactions ?? {}, secret.reaction) ?? [];
      const left = before.filter((each) => each !== userId);
      return { ...message, reactions: left.length > 0 ? { ...others, [secret.reaction]: left } : others };
    }
    default:
      return { ...message, thread: event.data.thread };
  }
}

const MESSAGE_EVENTS: { readonly [Type in MessageEvent['type']]: true } = {
  MessagePosted: true,
  MessageEdited: true,
  MessagePinned: true,
  MessageUnpinned: true,
  MessageDeleted: true,
  ReactionAdded: true,
  ReactionRemoved: true,
  ReplyPosted: true,
  ReplyEdited: true,
  ReplyDeleted: true,
};

/** Whether the event changes a message view. */
export const isMessageEvent = (event: RevealedEvent<ChatEvent>): event is MessageUpdate =>
  ownEntry(MESSAGE_EVENTS, event.type) !== undefined;
