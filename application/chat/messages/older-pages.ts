/** Pages of older messages as they were shown: nothing is added to them any more, and what is changed lets them go. */
import { LRUCache } from 'lru-cache';
import type { ChatEvent } from '../../../domain/chat/catalog.js';
import { nameOf, type RosterState } from '../../../domain/chat/roster.js';
import { estimateBytes } from '../../memory/estimate-size.js';
import type { Cache, Position, RevealedEvent } from '../../ports/index.js';
import type { MessageView } from '../view-models.js';
import { isOfMessage } from './page-cache.js';
import type { Page, Range } from './page-query.js';

/** Just before a message. */
export type OlderRange = Required<Range>;

interface Older {
  readonly channelId: string;
  readonly json: Uint8Array;
  readonly ids: ReadonlySet<string>;
  /** What people were called when it was shown. */
  readonly people: ReadonlyMap<string, string>;
  names: RosterState;
}

export interface OlderPages {
  /** Every event of the service, in log order. */
  hear(event: RevealedEvent<ChatEvent>): void;
  /** The JSON of `{messages}`, as everything that was heard made it; undefined where it was not shown of late. */
  show(channelId: string, range: OlderRange, names: RosterState): Uint8Array | undefined;
  /** Keeps what a page was shown as, if it shows all changes that were heard. */
  keep(channelId: string, range: OlderRange, page: Page, shown: ShownPage): void;
  /** Where a message stands in the log at which a page that was shown began: who reads on asks for those before it. */
  placeOf(channelId: string, messageId: string): Position | undefined;
  readonly cache: Cache;
}

export interface ShownPage {
  readonly json: Uint8Array;
  readonly views: readonly MessageView[];
  readonly names: RosterState;
}

const OLDER_BYTES = 8 * 1024 * 1024;
const PAGE_BYTES = 800;
const ID_BYTES = 100;
/** Places of messages that are remembered. */
const MOST_PLACES = 5000;

const keyOf = (channelId: string, { before, limit }: OlderRange) => `${channelId} ${before} ${limit}`;

export function createOlderPages(limitBytes = OLDER_BYTES): OlderPages {
  const byChannel = new Map<string, Set<string>>();
  const pages = new LRUCache<string, Older>({
    maxSize: limitBytes,
    maxEntrySize: limitBytes / 8,
    sizeCalculation: ({ json, ids, people }, key) =>
      PAGE_BYTES + estimateBytes(key) + json.length + ID_BYTES * (ids.size + people.size),
    dispose({ channelId }, key) {
      const its = byChannel.get(channelId);
      its?.delete(key);
      if (its?.size === 0) byChannel.delete(channelId);
    },
  });
  const places = new LRUCache<string, Position>({ max: MOST_PLACES });
  /** The newest change of a message that was heard, of whatever channel. */
  let changed: Position = 0n;

  return {
    hear(event) {
      if (event.type === 'ChannelDeleted') {
        changed = event.position;
        for (const key of [...(byChannel.get(event.data.channelId) ?? [])]) pages.delete(key);
      } else if (isOfMessage(event) && event.type !== 'MessagePosted') {
        changed = event.position;
        const { channelId, messageId } = event.data;
        for (const key of [...(byChannel.get(channelId) ?? [])])
          if (pages.peek(key)?.ids.has(messageId)) pages.delete(key);
        if (event.type === 'MessageDeleted') places.delete(`${channelId} ${messageId}`);
      }
    },

    show(channelId, range, names) {
      const key = keyOf(channelId, range);
      const older = pages.get(key);
      if (!older) return undefined;
      if (older.names !== names) {
        if ([...older.people].some(([id, name]) => nameOf(names, id) !== name)) {
          pages.delete(key);
          return undefined;
        }
        older.names = names;
      }
      return older.json;
    },

    keep(channelId, range, { consistency, since, first }, { json, views, names }) {
      if (consistency || since < changed) return;
      const ids = new Set(views.map(({ id }) => id).concat(range.before));
      const key = keyOf(channelId, range);
      pages.set(key, { channelId, json, ids, people: peopleIn(views), names });
      if (pages.has(key)) byChannel.set(channelId, (byChannel.get(channelId) ?? new Set()).add(key));
      const [oldest] = views;
      if (oldest && first !== undefined) places.set(`${channelId} ${oldest.id}`, first);
    },

    placeOf: (channelId, messageId) => places.get(`${channelId} ${messageId}`),

    cache: { name: 'chat.older', limitBytes, bytes: () => pages.calculatedSize },
  };
}

/** Everybody whose name is shown; a webhook is called what it was called then. */
function peopleIn(views: readonly MessageView[]): ReadonlyMap<string, string> {
  const people = new Map<string, string>();
  for (const { author, threadMeta } of views)
    for (const each of [author, threadMeta?.lastReplyBy]) if (each && !each.isBot) people.set(each.id, each.userName);
  return people;
}
