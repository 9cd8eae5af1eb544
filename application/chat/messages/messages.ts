/** Use cases on messages in channels and direct conversations, and on replies: post, edit, delete, pin, react. */

import { isDirect, participantsOf } from '../../../domain/chat/events/channels.js';
import { EMPTY_CONTENT, isMessageId, parentOf, type Thread } from '../../../domain/chat/events/messages.js';
import {
  type MessageCommand,
  type MessageEvent,
  type MessageState,
  messageNotFound,
  messageStream,
  notAuthor,
} from '../../../domain/chat/message.js';
import { reactionsOf } from '../../../domain/chat/reactions.js';
import { type ThreadCommand, threadStream } from '../../../domain/chat/thread.js';
import { isRejection, type Rejection } from '../../../domain/shared/index.js';
import type { CommandOutcome, Handled } from '../../command/index.js';
import { maxPosition, type WritePositions } from '../../consistency/index.js';
import type { CommandContext, Position } from '../../ports/index.js';
import { messageAggregate, threadAggregate } from '../aggregates.js';
import { conversationListKey } from '../channels/conversations.js';
import type { Caller, ChatPorts } from '../sign-in/authenticate.js';
import type { Contents, MessageInput, MessageTarget, PreparedContent } from './message-content.js';
import { type MessageView, messageView, postedMessage } from './message-view.js';
import { summaryAfter, type ThreadSummaries } from './thread-summaries.js';
import type { Visibility } from './visibility.js';

export interface MessagePorts
  extends Pick<ChatPorts, 'handle' | 'idempotency' | 'derivation' | 'clock' | 'log' | 'admission'> {
  readonly visibility: Visibility;
  readonly threads: Pick<ThreadSummaries, 'read'>;
  readonly contents: Contents;
  readonly writePositions: WritePositions;
}

export type Messages = ReturnType<typeof createMessages>;

const canHaveThread = (messageId: string, channelId: string) =>
  parentOf(messageId) === undefined && !isDirect(channelId);

export function createMessages(ports: MessagePorts) {
  const { handle, idempotency, derivation, clock, log, admission, visibility, threads, contents, writePositions } =
    ports;

  const newMessage = (channelId: string, { commandId }: CommandContext): MessageTarget => ({
    messageId: derivation.idInTime('chat.message', commandId),
    channelId,
  });

  /** Does not check access: the route has checked that the caller sees the channel or conversation. */
  const post = async (caller: Caller, channelId: string, input: MessageInput, context: CommandContext) =>
    respondToPost(await write(caller, newMessage(channelId, context), input, context));

  /** Posts prepared content; the author must be allowed to post there. */
  const postPrepared = async (author: string, channelId: string, content: PreparedContent, context: CommandContext) =>
    respondToPost(await append(author, newMessage(channelId, context), content, context));

  /** Writes a message or reply. */
  async function write(caller: Caller, target: MessageTarget, input: MessageInput, context: CommandContext) {
    const prepared = await contents.prepare(caller, target.channelId, input);
    if ('rejected' in prepared) return (await findEarlierRun(target.messageId, context)) ?? prepared;
    return append(caller.userId, target, prepared, context);
  }

  function append(
    author: string,
    target: MessageTarget,
    { body, quotedMessageId = null }: PreparedContent,
    context: CommandContext,
  ) {
    const about = { ...target, author, quotedMessageId, now: clock.now() };
    const command = { type: 'PostMessage' as const, ...about, body: { ...EMPTY_CONTENT, ...body } };
    const attachFiles = () => contents.attach(author, target, body, context);
    return handle(messageAggregate, messageStream(target.messageId), command, context, attachFiles);
  }

  async function respondToPost(
    outcome: Handled<MessageState, MessageEvent> | Rejection,
  ): CommandOutcome<{ readonly message: MessageView }> {
    if (isRejection(outcome)) return outcome;
    const [posted] = outcome.events as readonly Extract<MessageEvent, { type: 'MessagePosted' }>[];
    if (!posted) throw new Error('post appended no event');
    const { position } = outcome;
    const { channelId } = posted.data;
    writePositions.note(channelId, position);
    for (const each of participantsOf(channelId) ?? []) writePositions.note(conversationListKey(each), position);
    const { state: roster } = await admission.roster();
    return { body: { message: messageView(roster, postedMessage(posted.data)) }, position };
  }

  /**
   * Finds the result of a command that was sent before, which later changes would refuse now, such as the deletion of a
   * quoted message; undefined if it never ran or has no key.
   */
  async function findEarlierRun(messageId: string, context: CommandContext) {
    if (context.fingerprint === undefined || !isMessageId(messageId)) return undefined;
    return idempotency.findResult(messageAggregate, messageStream(messageId), context);
  }

  async function respond(messageId: string, result: Awaited<ReturnType<typeof run>>): ReturnType<typeof post> {
    if (isRejection(result)) return result;
    const { state: roster } = await admission.roster();
    const { state, isChanged, position } = result;
    // As of the event, so that a repetition gets the same answer.
    const asOf = isChanged ? position : undefined;
    const thread = canHaveThread(messageId, state.channelId) ? await threads.read(messageId, asOf) : null;
    const message = { ...state, id: messageId, reactions: reactionsOf(state.reactions), thread };
    return { body: { message: messageView(roster, message) }, position };
  }

  async function run(
    messageId: string,
    command: MessageCommand,
    context: CommandContext,
    before?: () => Promise<Rejection | undefined>,
  ) {
    const outcome = await handle(messageAggregate, messageStream(messageId), command, context, before);
    if (isRejection(outcome)) return outcome;
    const state = await outcome.state();
    writePositions.note(state.channelId, outcome.position);
    return { state, position: outcome.position, isChanged: outcome.events.length > 0 };
  }

  async function edit(caller: Caller, messageId: string, input: MessageInput, context: CommandContext) {
    const found = await visibility.message(caller, messageId);
    if ('rejected' in found) return found;
    const { author, channelId, quotedMessageId } = found.state;
    if (author !== caller.userId) return notAuthor;
    const prepared = await contents.prepare(caller, channelId, input, { id: messageId, quotedMessageId });
    if ('rejected' in prepared) return prepared;
    const about = { messageId, by: caller.userId, now: clock.now() };
    const command = { type: 'EditMessage' as const, ...about, ...prepared };
    const attachFiles = () => contents.attach(caller.userId, { messageId, channelId }, prepared.body, context);
    return respond(messageId, await run(messageId, command, context, attachFiles));
  }

  async function remove(caller: Caller, messageId: string, context: CommandContext) {
    const removed = await removeAndSummarize(caller, messageId, context);
    return isRejection(removed) ? removed : { body: { success: true }, position: removed.position };
  }

  /**
   * Deletes a message with its thread, or a reply; returns the summary that the thread of a reply has then. Admins may
   * delete any message, also in direct conversations of others.
   */
  async function removeAndSummarize(
    caller: Caller,
    messageId: string,
    context: CommandContext,
  ): Promise<{ readonly position: Position; readonly thread: Thread | null } | Rejection> {
    const found = await (caller.isAdmin ? visibility.findAny(messageId) : visibility.message(caller, messageId));
    // The message may have been deleted by this very command, sent again.
    const removed =
      'rejected' in found
        ? ((await findEarlierRun(messageId, context)) ?? found)
        : await appendRemoval(caller, messageId, found.state, context);
    if (isRejection(removed)) return removed;
    const { position } = removed;
    const parent = parentOf(messageId);
    if (parent === undefined) return { position, thread: null };
    const left = await changeThread(
      { type: 'RemoveReply', messageId: parent, replyId: messageId, now: clock.now() },
      context,
    );
    if (isRejection(left)) return { position, thread: null };
    const { channelId } = left.events[0]?.data ?? (await left.state());
    writePositions.note(channelId, left.position);
    return { position: maxPosition(position, left.position), thread: await summaryAfter(left) };
  }

  async function appendRemoval(
    caller: Caller,
    messageId: string,
    { author, channelId }: MessageState,
    context: CommandContext,
  ): Promise<{ readonly position: Position } | Rejection> {
    if (author !== caller.userId && !caller.isAdmin) return notAuthor;
    const posted = await log.read(messageStream(messageId), { from: 0, limit: 1 });
    const [first] = typeof posted === 'string' ? [] : posted;
    if (!first) return messageNotFound;
    const now = clock.now();
    // Closed before the message is deleted, so that no reply is added afterwards.
    const closed =
      canHaveThread(messageId, channelId) &&
      (await changeThread({ type: 'CloseThread', messageId, channelId, by: caller.userId, now }, context));
    const command = { type: 'DeleteMessage' as const, messageId, by: caller, now };
    const result = await run(messageId, { ...command, postedPosition: String(first.position) }, context);
    if (!isRejection(result) || !closed || isRejection(closed)) return result;
    // The process manager of threads has completed the deletion already.
    const deleted = await admission.load(messageAggregate, messageStream(messageId));
    writePositions.note(channelId, deleted.position);
    return deleted;
  }

  function changeThread(command: ThreadCommand, { quota: _, ...context }: CommandContext) {
    return handle(threadAggregate, threadStream(command.messageId), command, context);
  }

  async function pin(type: 'PinMessage' | 'UnpinMessage', caller: Caller, messageId: string, context: CommandContext) {
    const found = await visibility.message(caller, messageId);
    if ('rejected' in found) return found;
    const command = { type, messageId, by: caller.userId, now: clock.now() };
    return respond(messageId, await run(messageId, command, context));
  }

  async function react(
    type: 'AddReaction' | 'RemoveReaction',
    caller: Caller,
    messageId: string,
    reaction: string,
    context: CommandContext,
  ): CommandOutcome<{ readonly message: Pick<MessageView, 'id' | 'channelId' | 'reactions'> }> {
    const found = await visibility.message(caller, messageId);
    if ('rejected' in found) return found;
    const command = { type, messageId, userId: caller.userId, reaction, now: clock.now() };
    const result = await run(messageId, command, context);
    if (isRejection(result)) return result;
    const { channelId, reactions } = result.state;
    const message = { id: messageId, channelId, reactions: reactionsOf(reactions) };
    return { body: { message }, position: result.position };
  }

  return { post, postPrepared, write, edit, remove, removeAndSummarize, pin, react };
}
