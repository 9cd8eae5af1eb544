/** What stands in rows of messages and replies, as people are shown it: their texts opened, reactions put together. */
import { conversationSubject, isDirect } from '../../../domain/chat/conversation-id.js';
import { channelSubject } from '../../../domain/chat/events/channels.js';
import { EMPTY_CONTENT, type MessageContent, type Thread } from '../../../domain/chat/events/messages.js';
import { contentOf } from '../../../domain/chat/message-content.js';
import { sliceExpired, yieldToEventLoop } from '../../concurrency/index.js';
import type { Positioned } from '../../consistency/index.js';
import type { Position, Rows, Vault } from '../../ports/index.js';
import type { MessageSnapshot, ReplyStanding } from '../view-models.js';

export interface OpenedPorts {
  readonly rows: Rows;
  readonly vault: Pick<Vault, 'open' | 'openMany'>;
}

export interface Placed {
  readonly posted: { toBigInt(): bigint };
}

export interface MessageRow extends Positioned, Placed {
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

interface ReactionsRow extends Positioned {
  readonly of: string;
  readonly reactions?: readonly ReactionEntry[];
}

export interface ReplyRow extends Positioned, Placed {
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
export interface MessageAt {
  readonly message: MessageSnapshot;
  readonly at: Position;
}

/** Under whose key it is sealed what is said there. */
const subjectOf = (channelId: string): string =>
  isDirect(channelId) ? conversationSubject(channelId) : channelSubject({ channelId });

export type Opened = ReturnType<typeof createRowMapper>;

export function createRowMapper({ rows, vault }: OpenedPorts) {
  /** What was said in each; nothing where nobody can read it any more. */
  async function decrypt(channelId: string, sealed: readonly string[]): Promise<readonly MessageContent[]> {
    const secrets = await vault.openMany(subjectOf(channelId), sealed);
    return secrets.map((each) => contentOf((each as MessageContent | undefined) ?? EMPTY_CONTENT));
  }

  async function messages(channelId: string, found: readonly MessageRow[]): Promise<readonly MessageAt[]> {
    const further = await furtherReactions(found);
    const texts = await decrypt(
      channelId,
      found.map(({ secret }) => secret),
    );
    const all: MessageAt[] = [];
    for (const [index, row] of found.entries()) {
      if (sliceExpired()) await yieldToEventLoop();
      const { _id: id, author, createdAt, updatedAt, pinnedAt, quotedMessageId, thread = null } = row;
      const entries = [...(row.reactions ?? []), ...(further.get(id) ?? [])];
      const reactions = entries.length > 0 ? await reactionsIn(channelId, entries) : {};
      const message = { id, channelId, author, createdAt, updatedAt, pinnedAt, quotedMessageId };
      const standing = { ...message, said: texts[index]!, reactions, thread };
      all.push({ message: standing, at: row._at.toBigInt() });
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
    // The same few are shown again and again.
    const texts = await Promise.all(signs.map(([, { secret }]) => vault.open(subjectOf(channelId), secret)));
    return Object.fromEntries(
      signs.flatMap(([, { users }], index) => {
        const text = (texts[index] as { readonly reaction: string } | undefined)?.reaction;
        return text === undefined ? [] : [[text, users]];
      }),
    );
  }

  /** Of one place. */
  async function replies(channelId: string, found: readonly ReplyRow[]): Promise<readonly ReplyStanding[]> {
    const texts = await decrypt(
      channelId,
      found.map(({ secret }) => secret),
    );
    return found.map(({ _id: id, thread: threadId, author, createdAt, updatedAt, quotedMessageId }, index) => {
      const reply = { id, threadId, channelId, author, createdAt, updatedAt, quotedMessageId };
      return { ...reply, said: texts[index]! };
    });
  }

  return { messages, replies };
}
