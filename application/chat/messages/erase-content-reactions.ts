/** What must follow where something was deleted: nothing of what was said stays, in the log either. */
import type { ChatEvent } from '../../../domain/chat/catalog.js';
import { CHANNELS } from '../../../domain/chat/channels.js';
import { channelSubject } from '../../../domain/chat/events/channels.js';
import { messageStream } from '../../../domain/chat/message.js';
import { isRejection } from '../../../domain/shared/index.js';
import type { HandleCommand } from '../../command/index.js';
import {
  type Clock,
  type Derivation,
  type EventLog,
  type Position,
  type ProjectionProgress,
  type RecordedEvent,
  type Rows,
  UnavailableError,
  type Vault,
} from '../../ports/index.js';
import { causedBy, type Reaction } from '../../subscription/index.js';
import { channelsAggregate } from '../aggregates.js';

export interface ErasePorts {
  readonly handle: HandleCommand;
  readonly log: Pick<EventLog, 'tombstone' | 'retain'>;
  readonly vault: Pick<Vault, 'destroy'>;
  readonly rows: Rows;
  readonly settled: ProjectionProgress;
  readonly head: () => Promise<Position>;
  readonly derivation: Derivation;
  readonly clock: Clock;
}

/** Of a deleted message that it was deleted is all that is kept: by this its deletion is known when it is asked for again. */
export const forgetMessages = ({ log }: Pick<ErasePorts, 'log'>): Reaction<ChatEvent<'MessageDeleted'>> => ({
  name: 'chat.forget-messages',
  retryInBackground: true,
  on: { MessageDeleted: ({ stream }) => log.retain(stream, { maxCount: 1 }) },
});

/** Messages whose streams are ended in one go. */
const AT_ONCE = 200;
const ERASE = 'chat.erase-channels';

interface Said {
  readonly _id: string;
  readonly posted: { toBigInt(): bigint };
}

/** Each step does no harm when done again, so a crash between two of them is made good by the next run. */
export function eraseChannels(ports: ErasePorts): Reaction<ChatEvent<'ChannelDeleted'>> {
  const { handle, log, vault, rows, settled, head, derivation, clock } = ports;

  async function erase(event: RecordedEvent<ChatEvent<'ChannelDeleted'>>) {
    const { channelId } = event.data;
    await vault.destroy(channelSubject({ channelId }));
    const ended = await endMessages(channelId, 0n, event.position);
    // Another node may not have heard of the end at once.
    await endMessages(channelId, ended, await head());
    const command = { type: 'EraseChannel' as const, channelId, now: clock.now() };
    const context = causedBy(derivation, ERASE, event);
    const outcome = await handle(channelsAggregate, CHANNELS, command, context);
    if (isRejection(outcome)) throw new Error(outcome.rejected);
  }

  /** Of those that were posted after a position, as the rows show them at another; answers the last. */
  async function endMessages(channelId: string, after: Position, shown: Position): Promise<Position> {
    if (!(await settled.wait('chat.messages', shown))) throw new UnavailableError('the rows are behind');
    for (let last = after; ; ) {
      const found = await rows.find<Said>('chat.messages', {
        filter: { channel: channelId, posted: { $gt: last } },
        sort: { posted: 1 },
        limit: AT_ONCE,
      });
      await Promise.all(found.map(({ _id }) => log.tombstone(messageStream(_id))));
      last = found.at(-1)?.posted.toBigInt() ?? last;
      if (found.length < AT_ONCE) return last;
    }
  }

  return { name: ERASE, retryInBackground: true, on: { ChannelDeleted: erase } };
}
