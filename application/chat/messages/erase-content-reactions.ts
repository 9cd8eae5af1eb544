/** Process managers that erase message content from the log after a deletion. */

import type { ChatEvent } from '../../../domain/chat/catalog.js';
import { CHANNELS } from '../../../domain/chat/channels.js';
import { channelSubject } from '../../../domain/chat/events/channels.js';
import { messageStream } from '../../../domain/chat/message.js';
import { isRejection } from '../../../domain/shared/index.js';
import type { KernelPorts } from '../../command/index.js';
import { type EventLog, type Position, type RecordedEvent, UnavailableError, type Vault } from '../../ports/index.js';
import { causedBy, type Reaction } from '../../subscription/index.js';
import { channelsAggregate } from '../aggregates.js';

export interface EraseReactionPorts
  extends Pick<KernelPorts, 'handle' | 'rows' | 'projectionProgress' | 'head' | 'derivation' | 'clock'> {
  readonly log: Pick<EventLog, 'tombstone' | 'retain'>;
  readonly vault: Pick<Vault, 'destroy'>;
}

/** Truncates the stream of a deleted message to its deletion event; that event identifies a repeated deletion. */
export const truncateDeletedMessages = ({
  log,
}: Pick<EraseReactionPorts, 'log'>): Reaction<ChatEvent<'MessageDeleted'>> => ({
  name: 'chat.forget-messages',
  retryInBackground: true,
  on: { MessageDeleted: ({ stream }) => log.retain(stream, { maxCount: 1 }) },
});

const BATCH_SIZE = 200;
const ERASE = 'chat.erase-channels';

interface ErasableRow {
  readonly _id: string;
  readonly posted: { toBigInt(): bigint };
}

/** Erases a deleted channel. Every step is idempotent, so a run after a crash completes it. */
export function eraseDeletedChannels(ports: EraseReactionPorts): Reaction<ChatEvent<'ChannelDeleted'>> {
  const { handle, log, vault, rows, projectionProgress, head, derivation, clock } = ports;

  async function erase(event: RecordedEvent<ChatEvent<'ChannelDeleted'>>) {
    const { channelId } = event.data;
    await vault.destroy(channelSubject({ channelId }));
    const lastErased = await tombstoneMessages(channelId, 0n, event.position);
    // Another node may have posted to the channel before it saw the deletion.
    await tombstoneMessages(channelId, lastErased, await head());
    const command = { type: 'EraseChannel' as const, channelId, now: clock.now() };
    const context = causedBy(derivation, ERASE, event);
    const outcome = await handle(channelsAggregate, CHANNELS, command, context);
    if (isRejection(outcome)) throw new Error(outcome.rejected);
  }

  /**
   * Tombstones the messages posted after a position, once the rows reflect `asOf`; returns the position of the last
   * one.
   */
  async function tombstoneMessages(channelId: string, after: Position, asOf: Position): Promise<Position> {
    if (!(await projectionProgress.wait('chat.messages', asOf)))
      throw new UnavailableError('read model chat.messages is behind the event log');
    for (let last = after; ; ) {
      const found = await rows.find<ErasableRow>('chat.messages', {
        filter: { channel: channelId, posted: { $gt: last } },
        sort: { posted: 1 },
        limit: BATCH_SIZE,
      });
      await Promise.all(found.map(({ _id }) => log.tombstone(messageStream(_id))));
      last = found.at(-1)?.posted.toBigInt() ?? last;
      if (found.length < BATCH_SIZE) return last;
    }
  }

  return { name: ERASE, retryInBackground: true, on: { ChannelDeleted: erase } };
}
