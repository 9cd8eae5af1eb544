/**
 * The newest messages of each channel and conversation that is read, kept up from the live feed: their next reader is
 * shown them without asking anybody. Bounded in bytes; what is not here is read from the rows.
 */
import { LRUCache } from 'lru-cache';
import type { ChatEvent } from '../../../domain/chat/catalog.js';
import type { MessageEvent } from '../../../domain/chat/message.js';
import type { RosterState } from '../../../domain/chat/roster.js';
import { ownEntry } from '../../../domain/shared/index.js';
import { estimateBytes } from '../../memory/estimate-size.js';
import type { Cache, Position, RevealedEvent } from '../../ports/index.js';
import { type MessageSnapshot, messageView } from '../view-models.js';
import type { Page } from './page-query.js';
import type { MessageAt } from './row-mapper.js';

/** Messages of a page that is kept: whoever asks for more, or for older ones, is shown rows. */
export const KEPT = 100;
/** Those of a hundred channels whose messages are of 200 characters are 15 MiB. */
const HOT_BYTES = 17 * 1024 * 1024;
/** How long a reader waits for the feed before the rows are asked. */
const PATIENCE_MS = 500;
const ENTRY_BYTES = 350;

interface Entry extends MessageAt {
  readonly bytes: number;
  /** As it was shown last, with the names that people had then; held by itself and within its page. */
  shown?: { readonly json: string; readonly bytes: number };
}

interface CachedChannel {
  /** Oldest first. */
  readonly entries: Map<string, Entry>;
  /** Nothing older was ever left out. */
  isWhole: boolean;
  names: RosterState | undefined;
  /** The last page that was shown, and of how many. */
  shown: { readonly limit: number; readonly json: string } | undefined;
}

type MessageUpdate = RevealedEvent<MessageEvent>;

export interface HotPages {
  /** Every event of the service, in log order. */
  hear(event: RevealedEvent<ChatEvent>): void;
  /** Everything of the service up to here is shown. */
  heard(): Position;
  /** True once everything of the service up to a position was heard; false when that takes long. */
  hears(position: Position): Promise<boolean>;
  /** The JSON of `{messages}`, the newest `limit`; undefined where they are not all here. */
  show(channelId: string, limit: number, names: RosterState): string | undefined;
  /** Reads a page of `KEPT`, and keeps it where it shows all that was heard when it was asked for. */
  fill<Read extends Pick<Page, 'found' | 'consistency'>>(
    channelId: string,
    read: (seen: Position) => Promise<Read>,
  ): Promise<Read>;
  readonly cache: Cache;
}

export function createPageCache(limitBytes = HOT_BYTES): HotPages {
  const pages = new LRUCache<string, CachedChannel>({
    maxSize: limitBytes,
    maxEntrySize: limitBytes / 2,
    sizeCalculation: ({ entries }, channelId) => {
      let bytes = estimateBytes(channelId) + ENTRY_BYTES;
      for (const each of entries.values()) bytes += each.bytes + (each.shown?.bytes ?? 0);
      return bytes;
    },
  });
  /** What is heard of channels that are being read. */
  const filling = new Map<string, Set<MessageUpdate[]>>();
  const waiting = new Set<{ readonly position: Position; readonly wake: () => void }>();
  let heard: Position = 0n;

  function hear(event: RevealedEvent<ChatEvent>) {
    if (event.position <= heard) return;
    try {
      take(event);
    } finally {
      heard = event.position;
      for (const waiter of waiting) if (waiter.position <= heard) waiter.wake();
    }
  }

  function take(event: RevealedEvent<ChatEvent>) {
    if (event.type === 'ChannelDeleted') drop(event.data.channelId);
    else if (isOfMessage(event)) {
      const { channelId } = event.data;
      for (const told of filling.get(channelId) ?? []) told.push(event);
      const hot = pages.peek(channelId);
      if (!hot) return;
      // One that an event can't be brought into is not shown again.
      pages.delete(channelId);
      apply(hot, event);
      hot.shown = undefined;
      keep(channelId, hot);
    }
  }

  function drop(channelId: string) {
    pages.delete(channelId);
    filling.delete(channelId);
  }

  /** Counted anew. One that is too large is let go. */
  function keep(channelId: string, hot: CachedChannel) {
    pages.delete(channelId);
    pages.set(channelId, hot);
  }

  return {
    hear,
    heard: () => heard,

    async hears(position) {
      if (heard >= position) return true;
      await new Promise<void>((resolve) => {
        const done = () => {
          clearTimeout(timer);
          waiting.delete(waiter);
          resolve();
        };
        const waiter = { position, wake: done };
        const timer = setTimeout(done, PATIENCE_MS);
        waiting.add(waiter);
      });
      return heard >= position;
    },

    show(channelId, limit, names) {
      const hot = pages.get(channelId);
      if (!hot || (hot.entries.size < limit && !hot.isWhole)) return undefined;
      if (hot.names !== names) {
        for (const each of hot.entries.values()) delete each.shown;
        [hot.names, hot.shown] = [names, undefined];
      }
      if (hot.shown?.limit !== limit) {
        const newest = [...hot.entries.values()].slice(-limit);
        const texts = newest.map((each) => {
          each.shown ??= shownOf(each, names);
          return each.shown.json;
        });
        hot.shown = { limit, json: `{"messages":[${texts.join()}]}` };
        keep(channelId, hot);
        return hot.shown.json;
      }
      return hot.shown.json;
    },

    async fill(channelId, read) {
      const told: MessageUpdate[] = [];
      const all = filling.get(channelId) ?? new Set();
      filling.set(channelId, all.add(told));
      try {
        const page = await read(heard);
        // Unless the channel was deleted meanwhile.
        if (page.consistency || filling.get(channelId) !== all) return page;
        const entries = new Map(page.found.map((each) => [each.message.id, entryFor(each)]));
        const hot: CachedChannel = {
          entries,
          isWhole: entries.size < KEPT,
          names: undefined,
          shown: undefined,
        };
        for (const event of told) apply(hot, event);
        keep(channelId, hot);
        return page;
      } finally {
        all.delete(told);
        if (all.size === 0 && filling.get(channelId) === all) filling.delete(channelId);
      }
    },

    cache: { name: 'chat.hot', limitBytes, bytes: () => pages.calculatedSize },
  };
}

const entryFor = (found: MessageAt): Entry => ({
  ...found,
  bytes: ENTRY_BYTES + estimateBytes(found.message),
});

function shownOf({ message }: Entry, names: RosterState): NonNullable<Entry['shown']> {
  const json = JSON.stringify(messageView(names, message));
  return { json, bytes: 2 * estimateBytes(json) };
}

function apply(hot: CachedChannel, event: MessageUpdate): void {
  const { messageId: id } = event.data;
  const known = hot.entries.get(id);
  if (event.type === 'MessagePosted') {
    if (!known) hot.entries.set(id, entryFor({ message: postedBy(event), at: event.position }));
    while (hot.entries.size > KEPT) {
      const [oldest] = hot.entries.keys();
      hot.entries.delete(oldest!);
      hot.isWhole = false;
    }
    return;
  }
  // The rows were read after it.
  if (!known || known.at >= event.position) return;
  if (event.type === 'MessageDeleted') return void hot.entries.delete(id);
  const message = changedBy(known.message, event);
  hot.entries.set(id, entryFor({ message, at: event.position }));
}

function postedBy({ data }: RevealedEvent<ChatEvent<'MessagePosted'>>): MessageSnapshot {
  const { messageId: id, secret: said, ...rest } = data;
  return { id, ...rest, said, updatedAt: null, pinnedAt: null, reactions: {}, thread: null };
}

function changedBy(
  message: MessageSnapshot,
  event: Exclude<MessageUpdate, { readonly type: 'MessagePosted' | 'MessageDeleted' }>,
): MessageSnapshot {
  switch (event.type) {
    case 'MessageEdited':
    case 'MessagePinned':
    case 'MessageUnpinned': {
      const { quotedMessageId, updatedAt, pinnedAt, secret } = event.data;
      const { reactions: _, ...said } = secret;
      return { ...message, quotedMessageId, updatedAt, pinnedAt, said };
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

const OF_MESSAGES: { readonly [Type in MessageEvent['type']]: true } = {
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

/** Whether it changes what is shown of a message. */
export const isOfMessage = (event: RevealedEvent<ChatEvent>): event is MessageUpdate =>
  ownEntry(OF_MESSAGES, event.type) !== undefined;
