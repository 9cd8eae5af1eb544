/** Reads what was said, by pages of rows. */
import type { Rejection } from '../../../domain/shared/index.js';
import { awaitConsistent, type Consistency, withRows } from '../../consistency/index.js';
import type { Position, ProjectionProgress, Rows } from '../../ports/index.js';
import type { ReplyStanding } from '../view-models.js';
import type { WritePositions } from './acknowledged-positions.js';
import type { MessageAt, MessageRow, Opened, Placed, ReplyRow } from './row-mapper.js';
import { parentOf, type Visibility } from './visibility.js';

export interface PagePorts {
  readonly rows: Rows;
  readonly settled: ProjectionProgress;
  readonly opened: Opened;
  readonly acknowledged: WritePositions;
  readonly places: Pick<Visibility, 'locateAny'>;
}

/** Which part: the newest `limit`, or those just before one. */
export interface Range {
  readonly limit: number;
  readonly before?: string;
}

/** A range whose end may be known already: where `before` stands in the log. */
interface RangeWithEnd extends Range {
  readonly end?: Position | undefined;
}

/** Where a message stands, or stood before it was deleted. */
type Ended = Partial<Placed> & { readonly place?: Placed['posted'] };

export interface Page extends Consistency {
  /** Oldest first. */
  readonly found: readonly MessageAt[];
  /** The rows were as new as this before they were read; `position` may be later, by some of them alone. */
  readonly since: Position;
  /** Where the oldest stands in the log. */
  readonly first?: Position | undefined;
}

const unknownBefore: Rejection = {
  rejected: 'chat/unknown-before',
  kind: 'invalid',
  detail: 'before must be the id of a message that is, or was, in this list',
};

export type Pages = ReturnType<typeof createPages>;

export function createPages({ rows, settled, opened, acknowledged, places }: PagePorts) {
  /** To be awaited before a page is read, and given with it: what rows of the channel must show. */
  const awaitRows = (projection: 'chat.messages' | 'chat.replies', channelId: string, seen?: Position) =>
    awaitConsistent(settled, projection, { told: acknowledged.latest(channelId), seen });

  /** The position before which a page ends; undefined for a message that never was of the list. */
  async function endOf(
    projection: string,
    list: { readonly [field: string]: string },
    before: string,
  ): Promise<Position | undefined> {
    const [row] = await rows.find<Ended>(projection, { filter: { _id: before, ...list }, limit: 1 });
    return (row?.posted ?? row?.place)?.toBigInt();
  }

  /** The same of one whose row is not there yet: the log has the last word, and the reader may have heard of it. */
  async function resolvePendingEnd(projection: string, list: { readonly [field: string]: string }, before: string) {
    const messageId = parentOf(before) ?? before;
    const loaded = await places.locateAny(messageId);
    if ('rejected' in loaded) return undefined;
    await settled.wait(projection, loaded.position);
    return endOf(projection, list, before);
  }

  /** One page of a list, oldest first. */
  async function pageOf<Row extends Placed>(
    projection: string,
    list: { readonly [field: string]: string },
    { limit, before, end }: RangeWithEnd,
  ): Promise<readonly Row[] | Rejection> {
    const until =
      before === undefined
        ? undefined
        : (end ?? (await endOf(projection, list, before)) ?? (await resolvePendingEnd(projection, list, before)));
    if (before !== undefined && until === undefined) return unknownBefore;
    const posted = until === undefined ? { $gt: 0n } : { $gt: 0n, $lt: until };
    const found = await rows.find<Row>(projection, {
      filter: { ...list, posted },
      sort: { posted: -1 },
      limit,
    });
    return found.toReversed();
  }

  /** What was said in a channel or a conversation. */
  async function messages(channelId: string, range: RangeWithEnd, reflected: Consistency): Promise<Page | Rejection> {
    const found = await pageOf<MessageRow>('chat.messages', { channel: channelId }, range);
    if ('rejected' in found) return found;
    const first = found[0]?.posted.toBigInt();
    const since = reflected.position;
    return { found: await opened.messages(channelId, found), first, since, ...withRows(reflected, found) };
  }

  /** The newest of them; the whole list where it is no longer. */
  async function newest(channelId: string, limit: number, seen?: Position): Promise<Page> {
    const page = await messages(channelId, { limit }, await awaitRows('chat.messages', channelId, seen));
    if ('rejected' in page) throw new Error(page.rejected);
    return page;
  }

  /** The newest pin first. */
  async function pins(channelId: string, limit: number, reflected: Consistency): Promise<Page> {
    const filter = { pinnedIn: channelId, pinned: { $gt: 0n } };
    const query = { filter, sort: { pinned: -1 as const }, limit };
    const found = await rows.find<MessageRow>('chat.messages', query);
    const since = reflected.position;
    return { found: await opened.messages(channelId, found), since, ...withRows(reflected, found) };
  }

  /** The replies to a message of a channel. */
  async function replies(
    channelId: string,
    threadId: string,
    range: Range,
    reflected: Consistency,
  ): Promise<(Consistency & { readonly replies: readonly ReplyStanding[] }) | Rejection> {
    const found = await pageOf<ReplyRow>('chat.replies', { thread: threadId }, range);
    if ('rejected' in found) return found;
    return { replies: await opened.replies(channelId, found), ...withRows(reflected, found) };
  }

  async function replyRow(channelId: string, replyId: string, seen: Position): Promise<ReplyRow | undefined> {
    if ((await awaitRows('chat.replies', channelId, seen)).consistency === 'pending') return undefined;
    return (await rows.find<ReplyRow>('chat.replies', { filter: { _id: replyId, posted: { $gt: 0n } }, limit: 1 }))[0];
  }

  /** One reply as it stands, at least as the log was at `seen`; undefined also where the rows are not as far. */
  async function reply(channelId: string, replyId: string, seen: Position): Promise<ReplyStanding | undefined> {
    const row = await replyRow(channelId, replyId, seen);
    return row && (await opened.replies(channelId, [row]))[0];
  }

  /** Where in the log it was posted, of one that is there; undefined also where the rows are not as far as `seen`. */
  async function replyPosted(channelId: string, replyId: string, seen: Position): Promise<Position | undefined> {
    return (await replyRow(channelId, replyId, seen))?.posted.toBigInt();
  }

  return { awaitRows, messages, newest, pins, replies, reply, replyPosted };
}
