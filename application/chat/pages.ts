/** Reads what was said: pages of rows, their texts opened on the way out. */
import { channelSubject } from '../../domain/chat/events/channels.js';
import { NOTHING_SAID, type Said, type Thread } from '../../domain/chat/events/messages.js';
import { saidIn } from '../../domain/chat/message.js';
import { conversationSubject, isDirect } from '../../domain/chat/places.js';
import type { Rejection } from '../../domain/shared/decider.js';
import type { Position, Rows, Settled, Vault } from '../ports.js';
import { type Reflected, reflecting, showing, type Touched } from '../reflecting.js';
import { nextTurn } from '../turns.js';
import type { Acknowledged } from './told.js';
import type { ReplyStanding, Standing } from './views.js';

export interface PagePorts {
  readonly rows: Rows;
  readonly settled: Settled;
  readonly vault: Pick<Vault, 'open'>;
  readonly acknowledged: Acknowledged;
}

/** Which part: the newest `limit`, or those just before one. */
export interface Range {
  readonly limit: number;
  readonly before?: string;
}

export interface Placed {
  readonly posted: { toBigInt(): bigint };
}

export interface MessageRow extends Touched, Placed {
  readonly _id: string;
  readonly channel: string;
  readonly author: string;
  readonly createdAt: number;
  readonly updatedAt: number | null;
  readonly pinnedAt: number | null;
  readonly quotedMessageId: string | null;
  readonly secret: string;
  readonly reactions?: readonly ReactionEntry[];
  /** Further reactions stand in rows of their own. */
  readonly more?: true;
  readonly thread?: Thread;
}

interface ReactionEntry {
  readonly place: number;
  readonly sign: number;
  readonly userId: string;
  readonly secret: string;
}

interface ReactionsRow extends Touched {
  readonly of: string;
  readonly reactions?: readonly ReactionEntry[];
}

export interface ReplyRow extends Touched, Placed {
  readonly _id: string;
  readonly thread: string;
  readonly channel: string;
  readonly author: string;
  readonly createdAt: number;
  readonly updatedAt: number | null;
  readonly quotedMessageId: string | null;
  readonly secret: string;
}

/** A message with the position of the last event that it shows. */
export interface Found {
  readonly message: Standing;
  readonly at: Position;
}

export interface Page extends Reflected {
  /** Oldest first. */
  readonly found: readonly Found[];
}

/** Opened in one turn. */
const AT_ONCE = 16;
/** Pins of a channel that are shown: the newest. */
const MOST_PINS = 500;

const unknownBefore: Rejection = {
  rejected: 'chat/unknown-before',
  kind: 'invalid',
  detail: 'before must be a message of the same list',
};

/** Under whose key it is sealed what is said there. */
const subjectOf = (channelId: string): string =>
  isDirect(channelId) ? conversationSubject(channelId) : channelSubject({ channelId });

export type Pages = ReturnType<typeof createPages>;

export function createPages({ rows, settled, vault, acknowledged }: PagePorts) {
  const owed = (projection: string, channelId: string, seen?: Position) =>
    reflecting(settled, projection, { told: acknowledged.latest(channelId), seen });

  const open = async <Secret extends object>(channelId: string, sealed: string) =>
    (await vault.open(subjectOf(channelId), sealed)) as Secret | undefined;

  /** What was said; nothing where nobody can read it any more. */
  async function opening(channelId: string, sealed: string): Promise<Said> {
    return saidIn((await open<Said>(channelId, sealed)) ?? NOTHING_SAID);
  }

  /** The position before which a page ends; undefined for a message that is not of the list. */
  async function endOf(
    projection: string,
    list: { readonly [field: string]: string },
    before: string,
  ): Promise<Position | undefined> {
    const [row] = await rows.find<Placed>(projection, { filter: { _id: before, ...list }, limit: 1 });
    return row?.posted?.toBigInt();
  }

  /** One page of a list, oldest first. */
  async function pageOf<Row extends Placed>(
    projection: string,
    list: { readonly [field: string]: string },
    { limit, before }: Range,
  ): Promise<readonly Row[] | Rejection> {
    const end = before === undefined ? undefined : await endOf(projection, list, before);
    if (before !== undefined && end === undefined) return unknownBefore;
    const posted = end === undefined ? { $gt: 0n } : { $gt: 0n, $lt: end };
    const found = await rows.find<Row>(projection, {
      filter: { ...list, posted },
      sort: { posted: -1 },
      limit,
    });
    return found.toReversed();
  }

  /** What was said in a channel or a conversation. */
  async function messages(channelId: string, range: Range, seen?: Position): Promise<Page | Rejection> {
    const reflected = await owed('chat.messages', channelId, seen);
    const found = await pageOf<MessageRow>('chat.messages', { channel: channelId }, range);
    if ('rejected' in found) return found;
    return { found: await opened(channelId, found), ...showing(reflected, found) };
  }

  /** The newest of them; the whole list where it is no longer. */
  async function newest(channelId: string, limit: number, seen?: Position): Promise<Page> {
    const page = await messages(channelId, { limit }, seen);
    if ('rejected' in page) throw new Error(page.rejected);
    return page;
  }

  /** The newest pin first. */
  async function pins(channelId: string, seen?: Position): Promise<Page> {
    const reflected = await owed('chat.messages', channelId, seen);
    const filter = { pinnedIn: channelId, pinned: { $gt: 0n } };
    const query = { filter, sort: { pinned: -1 as const }, limit: MOST_PINS };
    const found = await rows.find<MessageRow>('chat.messages', query);
    return { found: await opened(channelId, found), ...showing(reflected, found) };
  }

  async function opened(channelId: string, found: readonly MessageRow[]): Promise<readonly Found[]> {
    const further = await furtherReactions(found);
    const all: Found[] = [];
    for (let from = 0; from < found.length; from += AT_ONCE) {
      if (from > 0) await nextTurn();
      const some = found.slice(from, from + AT_ONCE).map(async (row): Promise<Found> => {
        const { _id: id, author, createdAt, updatedAt, pinnedAt, quotedMessageId, thread = null } = row;
        const said = await opening(channelId, row.secret);
        const entries = [...(row.reactions ?? []), ...(further.get(id) ?? [])];
        const reactions = await reactionsIn(channelId, entries);
        const message = { id, channelId, author, createdAt, updatedAt, pinnedAt, quotedMessageId };
        return { message: { ...message, said, reactions, thread }, at: row._at.toBigInt() };
      });
      all.push(...(await Promise.all(some)));
    }
    return all;
  }

  async function furtherReactions(found: readonly MessageRow[]) {
    const ids = found.flatMap(({ _id, more }) => (more ? [_id] : []));
    const further = new Map<string, ReactionEntry[]>();
    if (ids.length === 0) return further;
    const filter = { of: { $in: ids } };
    const behind = await rows.find<ReactionsRow>('chat.messages', { filter, sort: { _id: 1 } });
    for (const { of, reactions = [] } of behind) further.set(of, [...(further.get(of) ?? []), ...reactions]);
    return further;
  }

  /** Each text is opened once, however many reacted so. */
  async function reactionsIn(channelId: string, entries: readonly ReactionEntry[]) {
    const bySign = new Map<number, { readonly secret: string; readonly users: string[] }>();
    for (const { sign, userId, secret } of entries) {
      const known = bySign.get(sign);
      if (known) known.users.push(userId);
      else bySign.set(sign, { secret, users: [userId] });
    }
    const signs = [...bySign].sort(([a], [b]) => a - b);
    const texts = await Promise.all(
      signs.map(([, { secret }]) => open<{ reaction: string }>(channelId, secret)),
    );
    return Object.fromEntries(
      signs.flatMap(([, { users }], index) => {
        const text = texts[index]?.reaction;
        return text === undefined ? [] : [[text, users]];
      }),
    );
  }

  /** The replies to a message of a channel. */
  async function replies(
    channelId: string,
    threadId: string,
    range: Range,
    seen?: Position,
  ): Promise<(Reflected & { readonly replies: readonly ReplyStanding[] }) | Rejection> {
    const reflected = await owed('chat.replies', channelId, seen);
    const found = await pageOf<ReplyRow>('chat.replies', { thread: threadId }, range);
    if ('rejected' in found) return found;
    const standing: ReplyStanding[] = [];
    for (let from = 0; from < found.length; from += AT_ONCE) {
      if (from > 0) await nextTurn();
      standing.push(...(await Promise.all(found.slice(from, from + AT_ONCE).map(replyIn))));
    }
    return { replies: standing, ...showing(reflected, found) };
  }

  async function replyIn(row: ReplyRow): Promise<ReplyStanding> {
    const { _id: id, thread: threadId, channel: channelId, author, createdAt } = row;
    const { updatedAt, quotedMessageId } = row;
    const said = await opening(channelId, row.secret);
    return { id, threadId, channelId, author, createdAt, updatedAt, quotedMessageId, said };
  }

  /** One reply as it stands, at least as the log was at `seen`; undefined also where the rows are not as far. */
  async function reply(
    channelId: string,
    replyId: string,
    seen: Position,
  ): Promise<ReplyStanding | undefined> {
    if ((await owed('chat.replies', channelId, seen)).consistency === 'pending') return undefined;
    const [row] = await rows.find<ReplyRow>('chat.replies', { filter: { _id: replyId }, limit: 1 });
    return row && replyIn(row);
  }

  return { messages, newest, pins, replies, reply, opened, replyIn };
}
