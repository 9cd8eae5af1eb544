/** Reads messages and replies from MongoDB: pages and pins. Opens sealed content. */

import {
  contentOf,
  EMPTY_CONTENT,
  type MessageContent,
  messageSubject,
  type Thread,
} from '../../../domain/chat/events/messages.js';
import { type Rejection, rejection } from '../../../domain/shared/index.js';
import type { KernelPorts } from '../../command/index.js';
import { sliceExpired, yieldToEventLoop } from '../../concurrency/index.js';
import {
  awaitConsistent,
  type Consistency,
  type PositionedRow,
  type WritePositions,
  withRows,
} from '../../consistency/index.js';
import type { Position } from '../../ports/index.js';
import type { MessageSnapshot } from './message-view.js';
import type { Visibility } from './visibility.js';

const MODEL = 'chat.messages';

interface PostedRow extends PositionedRow {
  /** Log position of the post. */
  readonly posted: { toBigInt(): bigint };
}

export interface MessageRow
  extends PostedRow,
    Pick<MessageSnapshot, 'author' | 'createdAt' | 'updatedAt' | 'pinnedAt' | 'quotedMessageId'> {
  readonly _id: string;
  readonly secret: string;
  readonly reactions?: readonly ReactionEntry[];
  /** More reactions are stored in separate rows. */
  readonly more?: true;
  /** Null when all replies were deleted. */
  readonly thread?: Thread | null;
}

interface ReactionEntry {
  readonly sign: number;
  readonly userId: string;
  readonly secret: string;
}

interface ReactionsRow {
  readonly of: string;
  readonly reactions?: readonly ReactionEntry[];
}

/** Message, with the positions of its post and of the last event it includes. */
export interface MessageAt {
  readonly message: MessageSnapshot;
  readonly posted: Position;
  readonly at: Position;
}

export type RowMapper = ReturnType<typeof createRowMapper>;

export function createRowMapper({ rows, vault }: Pick<KernelPorts, 'rows' | 'vault'>) {
  async function messages(channelId: string, found: readonly MessageRow[]): Promise<readonly MessageAt[]> {
    const additional = await readAdditionalReactions(found);
    const subject = messageSubject({ channelId });
    const bodies = await vault.openMany(
      subject,
      Array.from(found, ({ secret }) => secret),
    );
    const all: MessageAt[] = [];
    for (const [index, row] of found.entries()) {
      if (sliceExpired()) await yieldToEventLoop();
      const { _id: id, author, createdAt, updatedAt, pinnedAt, quotedMessageId, thread = null } = row;
      const entries = [...(row.reactions ?? []), ...(additional.get(id) ?? [])];
      const reactions = entries.length > 0 ? await reactionsIn(subject, entries) : {};
      // Empty where the key was destroyed.
      const body = contentOf((bodies[index] as MessageContent | undefined) ?? EMPTY_CONTENT);
      const fields = { id, channelId, author, createdAt, updatedAt, pinnedAt, quotedMessageId };
      all.push({
        message: { ...fields, body, reactions, thread },
        posted: row.posted.toBigInt(),
        at: row._at.toBigInt(),
      });
    }
    return all;
  }

  async function readAdditionalReactions(found: readonly MessageRow[]) {
    const ids = found.flatMap(({ _id, more }) => (more ? [_id] : []));
    const additional = new Map<string, ReactionEntry[]>();
    if (ids.length === 0) return additional;
    const query = { filter: { of: { $in: ids } }, sort: { _id: 1 as const } };
    for (const { of, reactions = [] } of await rows.find<ReactionsRow>(MODEL, query))
      additional.set(of, [...(additional.get(of) ?? []), ...reactions]);
    return additional;
  }

  /** Decrypts each distinct reaction once, however many users added it. */
  async function reactionsIn(subject: string, entries: readonly ReactionEntry[]) {
    const bySign = new Map<number, { readonly secret: string; readonly users: string[] }>();
    for (const { sign, userId, secret } of entries) {
      const known = bySign.get(sign);
      if (known) known.users.push(userId);
      else bySign.set(sign, { secret, users: [userId] });
    }
    const signs = [...bySign].sort(([a], [b]) => a - b);
    // Opened one by one because these use the plaintext cache: the same few reactions recur.
    const texts = await Promise.all(signs.map(([, { secret }]) => vault.open(subject, secret)));
    return Object.fromEntries(
      signs.flatMap(([, { users }], index) => {
        const text = (texts[index] as { readonly reaction: string } | undefined)?.reaction;
        return text === undefined ? [] : [[text, users]];
      }),
    );
  }

  return { messages };
}

export interface PageQueryPorts extends Pick<KernelPorts, 'rows' | 'projectionProgress'> {
  readonly opened: RowMapper;
  readonly writePositions: WritePositions;
  readonly visibility: Pick<Visibility, 'findAny'>;
}

/** The newest `limit` entries, those just before one, or those just after one. */
export interface Range {
  readonly limit: number;
  readonly before?: string;
  readonly after?: string;
  /** Position of `before`, if known. */
  readonly end?: Position | undefined;
}

export interface Page extends Consistency {
  /** Oldest first. */
  readonly found: readonly MessageAt[];
}

/** Messages of a channel or conversation, or replies to a message. */
export interface MessageList {
  readonly channelId: string;
  readonly threadId?: string | undefined;
}

const filterOf = ({ channelId, threadId }: MessageList) => ({ list: threadId ?? channelId });

const notInList = (name: 'before' | 'after') =>
  rejection('chat/not-in-list', 'invalid', `${name} must be the id of a current or deleted message of this list`);

export type PageQueries = ReturnType<typeof createPageQueries>;

export function createPageQueries({ rows, projectionProgress, opened, writePositions, visibility }: PageQueryPorts) {
  /** Waits until the rows include what the reader must see. Call it before reading a page and pass on the result. */
  const awaitRows = (channelId: string, seenByCaller?: Position) =>
    awaitConsistent(projectionProgress, MODEL, { lastAppend: writePositions.latest(channelId), seenByCaller });

  /** Position of a message, also a deleted one; undefined if it was never in the list. */
  async function findPosted(list: MessageList, id: string): Promise<Position | undefined> {
    const query = { filter: { _id: id, ...filterOf(list) }, limit: 1 };
    const find = async () => {
      const [row] = await rows.find<Partial<PostedRow> & { readonly place?: PostedRow['posted'] }>(MODEL, query);
      return (row?.posted ?? row?.place)?.toBigInt();
    };
    const posted = await find();
    if (posted !== undefined) return posted;
    // The row may not be written yet; the log is authoritative.
    const message = await visibility.findAny(id);
    if ('rejected' in message) return undefined;
    await projectionProgress.wait(MODEL, message.position);
    return find();
  }

  /** Shorter than `limit` only if there are no more. */
  async function messages(
    list: MessageList,
    { limit, before, after, end }: Range,
    freshness: Consistency,
  ): Promise<Page | Rejection> {
    const until = before === undefined ? undefined : (end ?? (await findPosted(list, before)));
    if (before !== undefined && until === undefined) return notInList('before');
    const from = after === undefined ? 0n : await findPosted(list, after);
    if (from === undefined) return notInList('after');
    const posted = { $gt: from, ...(until !== undefined && { $lt: until }) };
    const sort = { posted: after === undefined ? (-1 as const) : (1 as const) };
    const found = [...(await rows.find<MessageRow>(MODEL, { filter: { ...filterOf(list), posted }, sort, limit }))];
    if (after === undefined) found.reverse();
    return { found: await opened.messages(list.channelId, found), ...withRows(freshness, found) };
  }

  async function pins(channelId: string, limit: number, freshness: Consistency): Promise<Page> {
    const filter = { pinnedIn: channelId, pinned: { $gt: 0n } };
    const found = await rows.find<MessageRow>(MODEL, { filter, sort: { pinned: -1 }, limit });
    return { found: await opened.messages(channelId, found), ...withRows(freshness, found) };
  }

  return { awaitRows, messages, pins };
}
