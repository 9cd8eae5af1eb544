/** Use cases on threads: post a reply; edit and delete one as a message of its thread. */

import type { ChatEvent } from '../../../domain/chat/catalog.js';
import { isDirect } from '../../../domain/chat/events/channels.js';
import { parentOf, replyIdIn } from '../../../domain/chat/events/messages.js';
import { messageNotFound, notInDirect } from '../../../domain/chat/message.js';
import { threadStream } from '../../../domain/chat/thread.js';
import { isRejection, rejection } from '../../../domain/shared/index.js';
import type { KernelPorts } from '../../command/index.js';
import type { CommandContext, Position } from '../../ports/index.js';
import { threadAggregate } from '../aggregates.js';
import type { Caller } from '../sign-in/authenticate.js';
import type { MessageInput } from './message-content.js';
import { messageView, postedMessage, threadView } from './message-view.js';
import type { MessagePorts, Messages } from './messages.js';
import { summaryAfter } from './thread-summaries.js';

export interface ReplyPorts
  extends Pick<MessagePorts, 'handle' | 'derivation' | 'admission' | 'visibility' | 'writePositions'> {
  readonly messages: Pick<Messages, 'write' | 'edit' | 'removeAndSummarize'>;
}

const replyHasNoThread = rejection('chat/reply-to-reply', 'invalid', 'Replies cannot have replies');

export type Replies = ReturnType<typeof createReplies>;

export function createReplies(ports: ReplyPorts) {
  const { handle, derivation, admission, visibility, writePositions, messages } = ports;

  /** Finds the message of a thread, which need not have replies yet. */
  async function parent(caller: Caller, messageId: string, seen?: Position) {
    const found = await visibility.message(caller, messageId, seen);
    if ('rejected' in found) return found;
    const { channelId } = found.state;
    if (parentOf(messageId) !== undefined) return replyHasNoThread;
    return isDirect(channelId) ? notInDirect('have no threads') : { channelId };
  }

  async function post(caller: Caller, messageId: string, input: MessageInput, context: CommandContext) {
    const found = await parent(caller, messageId);
    if ('rejected' in found) return found;
    const { channelId } = found;
    const replyId = replyIdIn(messageId, derivation.idInTime('chat.reply', context.commandId));
    const posted = await messages.write(caller, { messageId: replyId, channelId }, input, context);
    if (isRejection(posted)) return posted;
    const [message] = posted.events as readonly ChatEvent<'ReplyWritten'>[];
    if (!message) throw new Error('post appended no event');
    const { quota: _, ...withoutQuota } = context;
    const added = await addReply({ handle }, message.data, withoutQuota);
    if (isRejection(added)) return added;
    const thread = await summaryAfter(added);
    if (!thread) return messageNotFound;
    writePositions.note(channelId, added.position);
    const { state: roster } = await admission.roster();
    const reply = messageView(roster, postedMessage(message.data));
    return { body: { reply, threadMeta: threadView(roster, thread) }, position: added.position };
  }

  const isInThread = (messageId: string, replyId: string) => parentOf(replyId) === messageId;

  async function edit(
    caller: Caller,
    messageId: string,
    replyId: string,
    input: MessageInput,
    context: CommandContext,
  ): ReturnType<Messages['edit']> {
    return isInThread(messageId, replyId) ? messages.edit(caller, replyId, input, context) : messageNotFound;
  }

  async function remove(caller: Caller, messageId: string, replyId: string, context: CommandContext) {
    const removed = isInThread(messageId, replyId)
      ? await messages.removeAndSummarize(caller, replyId, context)
      : messageNotFound;
    if (isRejection(removed)) return removed;
    const { thread, position } = removed;
    const { state: roster } = await admission.roster();
    return { body: { success: true, threadMeta: thread && threadView(roster, thread) }, position };
  }

  return { parent, post, edit, remove };
}

/** Adds a written reply to its thread, from where on readers see it; rejected if the thread has been closed. */
export function addReply(
  { handle }: Pick<KernelPorts, 'handle'>,
  {
    messageId: replyId,
    channelId,
    author,
    createdAt: now,
    quotedMessageId,
    secret: body,
  }: ChatEvent<'ReplyWritten'>['data'],
  context: CommandContext,
) {
  const messageId = parentOf(replyId)!;
  const about = { messageId, channelId, replyId, author, now };
  const command = { type: 'AddReply' as const, ...about, body, quotedMessageId };
  return handle(threadAggregate, threadStream(messageId), command, context);
}
