/** Reads pages of messages and replies from MongoDB. */
import type { Rejection } from '../../../domain/shared/index.js';
import { awaitConsistent, type Consistency, type WritePositions, withRows } from '../../consistency/index.js';
import type { Position, ProjectionProgress, Rows } from '../../ports/index.js';
import type { ReplySnapshot } from '../view-models.js';
import type { MessageAt, MessageRow, PostedRow, ReplyRow, RowMapper } from './row-mapper.js';
import { parentOf, type Visibility } from './visibility.js';

export interface PageQueryPorts {
  readonly rows: Rows;
  readonly projectionProgress: ProjectionProgress;
  readonly opened: RowMapper;
  readonly writePositions: WritePositions;
  readonly visibility: Pick<Visibility, 'locateAny'>;
}

/** The newest `limit` entries, or those just before one. */
export interface Range {
  readonly limit: number;
  readonly before?: string;
}

/** Range with the log position of `before`, if known. */
interface RangeWithEnd extends Range {
  readonly end?: Position | undefined;
}

/** Position of an entry; `place` remains when the message is deleted. */
type EndRow = Partial<PostedRow> & { readonly place?: PostedRow['posted'] };

export interface Page extends Consistency {
  /** Oldest first. */
  readonly found: readonly MessageAt[];
  /** Position the rows had reached before the read; `position` may be later because of single rows. */
  readonly since: Position;
  /** Log position of the oldest message. */
  readonly first?: Position | undefined;
}

const unknownBefore: Rejection = {
  rejected: 'chat/unknown-before',
  kind: 'invalid',
  detail: 'before must be the id of a current or deleted message of this list',
};

export type PageQueries = ReturnType<typeof createPageQueries>;

export function createPageQueries({ rows, projectionProgress, opened, writePositions, visibility }: PageQueryPorts) {
  /** Waits until the rows include what the reader must see. Call it before reading a page and pass on the result. */
  const awaitRows = (projection: 'chat.messages' | 'chat.replies', channelId: string, seenByCaller?: Position) =>
    awaitConsistent(projectionProgress, projection, { lastAppend: writePositions.latest(channelId), seenByCaller });

  /** Position at which a page ends; undefined for a message that was never in the list. */
  async function findEnd(
    projection: string,
    list: { readonly [field: string]: string },
    before: string,
  ): Promise<Position | undefined> {
    const [row] = await rows.find<EndRow>(projection, { filter: { _id: before, ...list }, limit: 1 });
    return (row?.posted ?? row?.place)?.toBigInt();
  }

  /** Finds the end when the row of `before` is not written yet; the log is authoritative. */
  async function resolvePendingEnd(projection: string, list: { readonly [field: string]: string }, before: string) {
    const messageId = parentOf(before) ?? before;
    const loaded = await visibility.locateAny(messageId);
    if ('rejected' in loaded) return undefined;
    await projectionProgress.wait(projection, loaded.position);
    return findEnd(projection, list, before);
  }

  /** Reads one page of a list, oldest first. */
  async function readPage<Row extends PostedRow>(
    projection: string,
    list: { readonly [field: string]: string },
    { limit, before, end }: RangeWithEnd,
  ): Promise<readonly Row[] | Rejection> {
    const until =
      before === undefined
        ? undefined
        : (end ?? (await findEnd(projection, list, before)) ?? (await resolvePendingEnd(projection, list, before)));
    if (before !== undefined && until === undefined) return unknownBefore;
    const posted = until === undefined ? { $gt: 0n } : { $gt: 0n, $lt: until };
    const found = await rows.find<Row>(projection, {
      filter: { ...list, posted },
      sort: { posted: -1 },
      limit,
    });
    return found.toReversed();
  }

  async function messages(channelId: string, range: RangeWithEnd, freshness: Consistency): Promise<Page | Rejection> {
    const found = await readPage<MessageRow>('chat.messages', { channel: channelId }, range);
    if ('rejected' in found) return found;
    const first = found[0]?.posted.toBigInt();
    const since = freshness.position;
    return { found: await opened.messages(channelId, found), first, since, ...withRows(freshness, found) };
  }

  /** The newest messages; shorter than `limit` only if there are no more. */
  async function newest(channelId: string, limit: number, seen?: Position): Promise<Page> {
    const page = await messages(channelId, { limit }, await awaitRows('chat.messages', channelId, seen));
    if ('rejected' in page) throw new Error(page.rejected);
    return page;
  }

  /** Newest pin first. */
  async function pins(channelId: string, limit: number, freshness: Consistency): Promise<Page> {
    const filter = { pinnedIn: channelId, pinned: { $gt: 0n } };
    const query = { filter, sort: { pinned: -1 as const }, limit };
    const found = await rows.find<MessageRow>('chat.messages', query);
    const since = freshness.position;
    return { found: await opened.messages(channelId, found), since, ...withRows(freshness, found) };
  }

  async function replies(
    channelId: string,
    threadId: string,
    range: Range,
    freshness: Consistency,
  ): Promise<(Consistency & { readonly replies: readonly ReplySnapshot[] }) | Rejection> {
    const found = await readPage<ReplyRow>('chat.replies', { thread: threadId }, range);
    if ('rejected' in found) return found;
    return { replies: await opened.replies(channelId, found), ...withRows(freshness, found) };
  }

  async function replyRow(channelId: string, replyId: string, seen: Position): Promise<ReplyRow | undefined> {
    if ((await awaitRows('chat.replies', channelId, seen)).consistency === 'pending') return undefined;
    return (await rows.find<ReplyRow>('chat.replies', { filter: { _id: replyId, posted: { $gt: 0n } }, limit: 1 }))[0];
  }

  /** A reply as of `seen` or later; also undefined while the rows are behind. */
  async function reply(channelId: string, replyId: string, seen: Position): Promise<ReplySnapshot | undefined> {
    const row = await replyRow(channelId, replyId, seen);
    return row && (await opened.replies(channelId, [row]))[0];
  }

  /** Log position of an existing reply's post; also undefined while the rows are behind `seen`. */
  async function replyPosted(channelId: string, replyId: string, seen: Position): Promise<Position | undefined> {
    return (await replyRow(channelId, replyId, seen))?.posted.toBigInt();
  }

  return { awaitRows, messages, newest, pins, replies, reply, replyPosted };
}
