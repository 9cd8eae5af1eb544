/** Process managers that erase message content from the log after a deletion. */

import type { ChatEvent } from '../../../domain/chat/catalog.js';
import { CHANNELS } from '../../../domain/chat/channels.js';
import { channelSubject } from '../../../domain/chat/events/channels.js';
import { parentOf } from '../../../domain/chat/events/messages.js';
import { messageStream } from '../../../domain/chat/message.js';
import { threadStream } from '../../../domain/chat/thread.js';
import { isRejection } from '../../../domain/shared/index.js';
import type { KernelPorts } from '../../command/index.js';
import { type RowPages, readRowPages } from '../../consistency/index.js';
import { type Position, type RecordedEvent, UnavailableError } from '../../ports/index.js';
import { causedBy, type Reaction } from '../../subscription/index.js';
import { channelsAggregate, threadAggregate } from '../aggregates.js';

export interface EraseReactionPorts
  extends Pick<KernelPorts, 'handle' | 'aggregates' | 'rows' | 'derivation' | 'clock' | 'log' | 'vault'> {
  /** Resolves once the rows of `chat.messages` include everything in the log at the call; rejects if stopped. */
  readonly untilCurrent: (signal: AbortSignal) => Promise<void>;
}

/**
 * Truncates the stream of a deleted message to its deletion event, which identifies a repeated deletion. Erases its
 * replies, and its thread but for the end, which refuses further replies.
 */
export const eraseDeletedMessages = ({
  aggregates,
  log,
}: Pick<EraseReactionPorts, 'aggregates' | 'log'>): Reaction<ChatEvent<'MessageDeleted'>> => ({
  name: 'chat.forget-messages',
  retryInBackground: true,
  on: {
    async MessageDeleted({ stream, data: { messageId } }) {
      await log.retain(stream, { maxCount: 1 });
      const thread = threadStream(messageId);
      const { state, revision } = await aggregates.reload(threadAggregate, thread);
      if (revision < 0) return;
      const ids = Array.from(state.replies, ([id]) => id);
      for (let start = 0; start < ids.length; start += BATCH_SIZE)
        await Promise.all(ids.slice(start, start + BATCH_SIZE).map((id) => log.tombstone(messageStream(id))));
      await log.retain(thread, { maxCount: 1 });
    },
  },
});

const BATCH_SIZE = 200;
const ERASE = 'chat.erase-channels';
const UNTIL_CURRENT_MS = 10_000;

interface ErasableRow {
  readonly _id: string;
  /** Of a message that has or had replies. */
  readonly thread?: unknown;
  /** Position of the post; missing where deleted. */
  readonly posted: { toBigInt(): bigint };
  /** The same of replies, also of deleted ones. */
  readonly place: { toBigInt(): bigint };
}

interface List extends Pick<RowPages, 'filter'> {
  readonly by: 'posted' | 'place';
}

/** Erases a deleted channel. Every step is idempotent, so a run after a crash completes it. */
export function eraseDeletedChannels(ports: EraseReactionPorts): Reaction<ChatEvent<'ChannelDeleted'>> {
  const { handle, log, vault, rows, untilCurrent, derivation, clock } = ports;

  async function erase(event: RecordedEvent<ChatEvent<'ChannelDeleted'>>) {
    const { channelId } = event.data;
    await vault.destroy(channelSubject({ channelId }));
    const posts = { filter: { list: channelId }, by: 'posted' } as const;
    const replies = { filter: { parentChannel: channelId }, by: 'place' } as const;
    let [lastPost, lastReply] = [0n, 0n];
    // Twice, as another node may have posted to the channel before it saw the deletion.
    for (let pass = 0; pass < 2; pass++) {
      await untilCurrent(AbortSignal.timeout(UNTIL_CURRENT_MS)).catch((cause) => {
        throw new UnavailableError('read model chat.messages is behind the event log', { cause });
      });
      lastPost = await tombstoneMessages(posts, lastPost);
      lastReply = await tombstoneMessages(replies, lastReply);
    }
    const command = { type: 'EraseChannel' as const, channelId, now: clock.now() };
    const context = causedBy(derivation, ERASE, event);
    const outcome = await handle(channelsAggregate, CHANNELS, command, context);
    if (isRejection(outcome)) throw new Error(outcome.rejected);
  }

  /** Tombstones the messages of a list posted after a position, with their threads; returns that of the last one. */
  async function tombstoneMessages(list: List, after: Position): Promise<Position> {
    let last = after;
    const pages = { ...list, after, limit: BATCH_SIZE };
    for await (const page of readRowPages<ErasableRow>(rows, 'chat.messages', pages)) {
      await Promise.all(page.map(({ _id }) => log.tombstone(messageStream(_id))));
      // Of each message with replies, once.
      const threads = new Set(page.flatMap(({ _id, thread }) => parentOf(_id) ?? (thread === undefined ? [] : _id)));
      await Promise.all([...threads].map((id) => log.tombstone(threadStream(id))));
      last = page.at(-1)![list.by].toBigInt();
    }
    return last;
  }

  return { name: ERASE, retryInBackground: true, on: { ChannelDeleted: erase } };
}
