/** Caches rendered pages of older messages; any change of a message on a page evicts it. */
import { LRUCache } from 'lru-cache';
import type { ChatEvent } from '../../../domain/chat/catalog.js';
import { nameOf, type RosterState } from '../../../domain/chat/roster.js';
import { estimateBytes } from '../../memory/estimate-size.js';
import type { Cache, Position, RevealedEvent } from '../../ports/index.js';
import type { MessageView } from '../view-models.js';
import { isMessageEvent } from './page-cache.js';
import type { Page, Range } from './page-query.js';

/** Page that ends just before a message. */
export type OlderRange = Required<Range>;

interface CachedPage {
  readonly channelId: string;
  readonly json: Uint8Array;
  readonly ids: ReadonlySet<string>;
  /** User names at the time of rendering. */
  readonly userNames: ReadonlyMap<string, string>;
  names: RosterState;
}

export interface OlderPages {
  /** Takes every event of the service, in log order. */
  onEvent(event: RevealedEvent<ChatEvent>): void;
  /** Rendered `{messages}` JSON as of the last event taken; undefined when not cached. */
  get(channelId: string, range: OlderRange, names: RosterState): Uint8Array | undefined;
  /** Caches a rendered page unless a message has changed since it was read. */
  store(channelId: string, range: OlderRange, page: Page, rendered: RenderedOlderPage): void;
  /** Log position of the oldest message of a rendered page: the next older page ends there. */
  positionOf(channelId: string, messageId: string): Position | undefined;
  readonly cache: Cache;
}

export interface RenderedOlderPage {
  readonly json: Uint8Array;
  readonly views: readonly MessageView[];
  readonly names: RosterState;
}

const DEFAULT_LIMIT_BYTES = 8 * 1024 * 1024;
const PAGE_BYTES = 800;
const ID_BYTES = 100;
/** Message positions cached. */
const MAX_POSITIONS = 5000;

const keyOf = (channelId: string, { before, limit }: OlderRange) => `${channelId} ${before} ${limit}`;

export function createOlderPages(limitBytes = DEFAULT_LIMIT_BYTES): OlderPages {
  const byChannel = new Map<string, Set<string>>();
  const pages = new LRUCache<string, CachedPage>({
    maxSize: limitBytes,
    maxEntrySize: limitBytes / 8,
    sizeCalculation: ({ json, ids, userNames }, key) =>
      PAGE_BYTES + estimateBytes(key) + json.length + ID_BYTES * (ids.size + userNames.size),
    dispose({ channelId }, key) {
      const keys = byChannel.get(channelId);
      keys?.delete(key);
      if (keys?.size === 0) byChannel.delete(channelId);
    },
  });
  const positions = new LRUCache<string, Position>({ max: MAX_POSITIONS });
  /** Position of the newest message change in any channel. */
  let lastChange: Position = 0n;

  return {
    onEvent(event) {
      if (event.type === 'ChannelDeleted') {
        lastChange = event.position;
        for (const key of [...(byChannel.get(event.data.channelId) ?? [])]) pages.delete(key);
      } else if (isMessageEvent(event) && event.type !== 'MessagePosted') {
        lastChange = event.position;
        const { channelId, messageId } = event.data;
        for (const key of [...(byChannel.get(channelId) ?? [])])
          if (pages.peek(key)?.ids.has(messageId)) pages.delete(key);
        if (event.type === 'MessageDeleted') positions.delete(`${channelId} ${messageId}`);
      }
    },

    get(channelId, range, names) {
      const key = keyOf(channelId, range);
      const page = pages.get(key);
      if (!page) return undefined;
      if (page.names !== names) {
        if ([...page.userNames].some(([id, name]) => nameOf(names, id) !== name)) {
          pages.delete(key);
          return undefined;
        }
        page.names = names;
      }
      return page.json;
    },

    store(channelId, range, { consistency, since, first }, { json, views, names }) {
      if (consistency || since < lastChange) return;
      const ids = new Set(views.map(({ id }) => id).concat(range.before));
      const key = keyOf(channelId, range);
      pages.set(key, { channelId, json, ids, userNames: userNamesIn(views), names });
      if (pages.has(key)) byChannel.set(channelId, (byChannel.get(channelId) ?? new Set()).add(key));
      const [oldest] = views;
      if (oldest && first !== undefined) positions.set(`${channelId} ${oldest.id}`, first);
    },

    positionOf: (channelId, messageId) => positions.get(`${channelId} ${messageId}`),

    cache: { name: 'chat.older', limitBytes, bytes: () => pages.calculatedSize },
  };
}

/** User names on the page; the names of webhooks never change. */
function userNamesIn(views: readonly MessageView[]): ReadonlyMap<string, string> {
  const userNames = new Map<string, string>();
  for (const { author, threadMeta } of views)
    for (const each of [author, threadMeta?.lastReplyBy])
      if (each && !each.isBot) userNames.set(each.id, each.userName);
  return userNames;
}
