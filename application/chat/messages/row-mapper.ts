/** Maps message and reply rows to snapshots: decrypts content and collects reactions. */
import { conversationSubject, isDirect } from '../../../domain/chat/conversation-id.js';
import { channelSubject } from '../../../domain/chat/events/channels.js';
import { EMPTY_CONTENT, type MessageContent, type Thread } from '../../../domain/chat/events/messages.js';
import { contentOf } from '../../../domain/chat/message-content.js';
import { sliceExpired, yieldToEventLoop } from '../../concurrency/index.js';
import type { PositionedRow } from '../../consistency/index.js';
import type { Position, Rows, Vault } from '../../ports/index.js';
import type { MessageSnapshot, ReplySnapshot } from '../view-models.js';

export interface RowMapperPorts {
  readonly rows: Rows;
  readonly vault: Pick<Vault, 'open' | 'openMany'>;
}

export interface PostedRow {
  readonly posted: { toBigInt(): bigint };
}

export interface MessageRow extends PositionedRow, PostedRow {
  readonly _id: string;
  readonly channel: string;
  readonly author: string;
  readonly createdAt: number;
  readonly updatedAt: number | null;
  readonly pinnedAt: number | null;
  readonly quotedMessageId: string | null;
  readonly secret: string;
  readonly reactions?: readonly ReactionEntry[];
  /** More reactions are stored in separate rows. */
  readonly more?: true;
  readonly thread?: Thread;
}

interface ReactionEntry {
  readonly place: number;
  readonly sign: number;
  readonly userId: string;
  readonly secret: string;
}

interface ReactionsRow extends PositionedRow {
  readonly of: string;
  readonly reactions?: readonly ReactionEntry[];
}

export interface ReplyRow extends PositionedRow, PostedRow {
  readonly _id: string;
  readonly thread: string;
  readonly channel: string;
  readonly author: string;
  readonly createdAt: number;
  readonly updatedAt: number | null;
  readonly quotedMessageId: string | null;
  readonly secret: string;
}

/** Message, with the position of the last event it includes. */
export interface MessageAt {
  readonly message: MessageSnapshot;
  readonly at: Position;
}

/** Key subject of a channel's or conversation's content. */
const subjectOf = (channelId: string): string =>
  isDirect(channelId) ? conversationSubject(channelId) : channelSubject({ channelId });

export type RowMapper = ReturnType<typeof createRowMapper>;

export function createRowMapper({ rows, vault }: RowMapperPorts) {
  /** Decrypts message bodies; empty where the key was destroyed. */
  async function decrypt(channelId: string, secrets: readonly string[]): Promise<readonly MessageContent[]> {
    const opened = await vault.openMany(subjectOf(channelId), secrets);
    return opened.map((each) => contentOf((each as MessageContent | undefined) ?? EMPTY_CONTENT));
  }

  async function messages(channelId: string, found: readonly MessageRow[]): Promise<readonly MessageAt[]> {
    const additional = await readAdditionalReactions(found);
    const texts = await decrypt(
      channelId,
      found.map(({ secret }) => secret),
    );
    const all: MessageAt[] = [];
    for (const [index, row] of found.entries()) {
      if (sliceExpired()) await yieldToEventLoop();
      const { _id: id, author, createdAt, updatedAt, pinnedAt, quotedMessageId, thread = null } = row;
      const entries = [...(row.reactions ?? []), ...(additional.get(id) ?? [])];
      const reactions = entries.length > 0 ? await reactionsIn(channelId, entries) : {};
      const message = { id, channelId, author, createdAt, updatedAt, pinnedAt, quotedMessageId };
      const snapshot = { ...message, body: texts[index]!, reactions, thread };
      all.push({ message: snapshot, at: row._at.toBigInt() });
    }
    return all;
  }

  async function readAdditionalReactions(found: readonly MessageRow[]) {
    const ids = found.flatMap(({ _id, more }) => (more ? [_id] : []));
    const additional = new Map<string, ReactionEntry[]>();
    if (ids.length === 0) return additional;
    const filter = { of: { $in: ids } };
    const additionalRows = await rows.find<ReactionsRow>('chat.messages', { filter, sort: { _id: 1 } });
    for (const { of, reactions = [] } of additionalRows)
      additional.set(of, [...(additional.get(of) ?? []), ...reactions]);
    return additional;
  }

  /** Decrypts each distinct reaction once, however many users added it. */
  async function reactionsIn(channelId: string, entries: readonly ReactionEntry[]) {
    const bySign = new Map<number, { readonly secret: string; readonly users: string[] }>();
    for (const { sign, userId, secret } of entries) {
      const known = bySign.get(sign);
      if (known) known.users.push(userId);
      else bySign.set(sign, { secret, users: [userId] });
    }
    const signs = [...bySign].sort(([a], [b]) => a - b);
    // Opened one by one because these use the plaintext cache: the same few reactions recur.
    const texts = await Promise.all(signs.map(([, { secret }]) => vault.open(subjectOf(channelId), secret)));
    return Object.fromEntries(
      signs.flatMap(([, { users }], index) => {
        const text = (texts[index] as { readonly reaction: string } | undefined)?.reaction;
        return text === undefined ? [] : [[text, users]];
      }),
    );
  }

  /** Maps replies of one channel. */
  async function replies(channelId: string, found: readonly ReplyRow[]): Promise<readonly ReplySnapshot[]> {
    const texts = await decrypt(
      channelId,
      found.map(({ secret }) => secret),
    );
    return found.map(({ _id: id, thread: threadId, author, createdAt, updatedAt, quotedMessageId }, index) => {
      const reply = { id, threadId, channelId, author, createdAt, updatedAt, quotedMessageId };
      return { ...reply, body: texts[index]! };
    });
  }

  return { messages, replies };
}
