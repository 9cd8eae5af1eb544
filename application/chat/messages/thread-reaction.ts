/** Process manager that completes posts and deletions of replies, and deletions of threads, that a crash interrupted. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type ChatEvent, catalog } from '../../../domain/chat/catalog.js';
import { parentOf } from '../../../domain/chat/events/messages.js';
import { messageStream } from '../../../domain/chat/message.js';
import { threadStream } from '../../../domain/chat/thread.js';
import { isRejection } from '../../../domain/shared/index.js';
import type { KernelPorts } from '../../command/index.js';
import type { RecordedEvent } from '../../ports/index.js';
import { completing, type Reaction } from '../../subscription/index.js';
import { messageAggregate, threadAggregate } from '../aggregates.js';
import { addReply } from './replies.js';

export type ThreadReactionPorts = Pick<KernelPorts, 'handle' | 'aggregates' | 'log' | 'decryptEvent' | 'clock'>;

/** Commands usually complete themselves within this time; acting earlier would only compete with them. */
const GRACE_MS = 1000;

type Event = ChatEvent<'ReplyWritten' | 'MessageDeleted' | 'ThreadClosed'>;

/** Every step is idempotent, and usually the command has completed itself. */
export function completeThreads(ports: ThreadReactionPorts): Reaction<Event> {
  const { handle, aggregates, log, decryptEvent, clock } = ports;

  /** Waits until the event is old enough. Events wait in order, so that together they wait no longer than one. */
  const untilOverdue = ({ recordedAt }: RecordedEvent): Promise<void> =>
    sleep(Math.min(GRACE_MS, Math.max(0, recordedAt + GRACE_MS - clock.now())));

  /** Removes a reply that its thread refuses, or whose channel has been deleted: it was never visible. */
  async function addWritten(event: RecordedEvent<ChatEvent<'ReplyWritten'>>) {
    const { messageId } = event.data;
    await untilOverdue(event);
    const thread = await aggregates.load(threadAggregate, threadStream(parentOf(messageId)!));
    if (thread.state.replies.has(messageId)) return;
    const { state, deleted } = await aggregates.reload(messageAggregate, event.stream);
    if (deleted || state.status !== 'active') return;
    const { data, erased } = await decryptEvent(catalog, event);
    if (erased || isRejection(await addReply({ handle }, data, completing(event)))) await log.tombstone(event.stream);
  }

  async function removeDeleted(event: RecordedEvent<ChatEvent<'MessageDeleted'>>) {
    const { messageId: replyId } = event.data;
    const messageId = parentOf(replyId);
    if (messageId === undefined) return;
    await untilOverdue(event);
    const command = { type: 'RemoveReply' as const, messageId, replyId, now: clock.now() };
    await handle(threadAggregate, threadStream(messageId), command, completing(event));
  }

  async function deleteMessage(event: RecordedEvent<ChatEvent<'ThreadClosed'>>) {
    const { messageId, by: userId, closedAt: now } = event.data;
    const stream = messageStream(messageId);
    await untilOverdue(event);
    const { state } = await aggregates.load(messageAggregate, stream);
    const posted = await log.read(stream, { from: 0, limit: 1 });
    if (state.status !== 'active' || typeof posted === 'string' || !posted[0]) return;
    const by = { userId, isAdmin: true };
    const about = { messageId, by, postedPosition: String(posted[0].position), now };
    const command = { type: 'DeleteMessage' as const, ...about };
    await handle(messageAggregate, stream, command, completing(event));
  }

  return {
    name: 'chat.threads',
    retryInBackground: true,
    on: { ReplyWritten: addWritten, MessageDeleted: removeDeleted, ThreadClosed: deleteMessage },
  };
}
