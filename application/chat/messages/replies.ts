/** Use cases on replies in message threads: post, edit, delete. */

import { catalog } from '../../../domain/chat/catalog.js';
import { isDirect } from '../../../domain/chat/events/channels.js';
import { EMPTY_CONTENT, type MessageContent } from '../../../domain/chat/events/messages.js';
import {
  type MessageCommand,
  type MessageEvent,
  messageNotFound,
  messageStream,
  notAuthor,
  notInDirect,
} from '../../../domain/chat/message.js';
import { findReply, replyChanged, threadOf } from '../../../domain/chat/thread.js';
import { isRejection, type Rejection, rejection } from '../../../domain/shared/index.js';
import { isEvent, readBackward } from '../../command/index.js';
import { sliceExpired, yieldToEventLoop } from '../../concurrency/index.js';
import { type CommandContext, type DecryptEvent, UnavailableError } from '../../ports/index.js';
import { messageAggregate } from '../aggregates.js';
import type { Outcome } from '../command-result.js';
import type { Caller } from '../sign-in/authenticate.js';
import type { PageQueries } from './message-rows.js';
import { type ReplyView, replyView, threadView } from './message-view.js';
import type { MessageInput, MessagePorts } from './messages.js';
import { type MessageLocation, parentOf, replyIdIn } from './visibility.js';

export interface ReplyPorts extends MessagePorts {
  readonly decryptEvent: DecryptEvent;
  readonly pages: Pick<PageQueries, 'reply'>;
}

const replyHasNoThread = rejection('chat/reply-to-reply', 'invalid', 'Replies cannot have replies');

type ContentEvent = Extract<MessageEvent, { type: 'ReplyPosted' | 'ReplyEdited' }>;

const MAX_EDIT_ATTEMPTS = 10;

export type Replies = ReturnType<typeof createReplies>;

export function createReplies(ports: ReplyPorts) {
  const { handle, derivation, clock, admission, visibility, prepareContent, uploads, writePositions, log } = ports;
  const { decryptEvent, pages } = ports;

  async function parent(caller: Caller, messageId: string, seen?: bigint): Promise<MessageLocation | Rejection> {
    if (parentOf(messageId) !== undefined) return rejectParent(caller, messageId, seen);
    const found = await visibility.locate(caller, messageId, seen);
    if ('rejected' in found) return found;
    return isDirect(found.channelId) ? notInDirect('have no threads') : found;
  }

  async function rejectParent(caller: Caller, replyId: string, seen?: bigint): Promise<Rejection> {
    const found = await visibility.message(caller, parentOf(replyId) ?? replyId, seen);
    if ('rejected' in found) return found;
    return findReply(found.state.replies, replyId) ? replyHasNoThread : messageNotFound;
  }

  async function run(
    command: MessageCommand,
    channelId: string,
    context: CommandContext,
    before?: () => Promise<Rejection | undefined>,
  ) {
    const outcome = await handle(messageAggregate, messageStream(command.messageId), command, context, before);
    if (!isRejection(outcome)) writePositions.note(channelId, outcome.position);
    return outcome;
  }

  async function post(caller: Caller, messageId: string, input: MessageInput, context: CommandContext) {
    const found = await parent(caller, messageId);
    if ('rejected' in found) return found;
    const { channelId } = found;
    const prepared = await prepareContent(caller, channelId, input);
    if ('rejected' in prepared) return prepared;
    const body: MessageContent = { ...EMPTY_CONTENT, ...prepared.body };
    const replyId = replyIdIn(messageId, derivation.idInTime('chat.reply', context.commandId));
    const about = { messageId, replyId, author: caller.userId, now: clock.now() };
    const { quotedMessageId = null } = prepared;
    const command = { type: 'PostReply' as const, ...about, body, quotedMessageId };
    const target = { messageId, holderId: replyId, channelId };
    const attachFiles = () => uploads.attach(caller.userId, target, prepared.body, context);
    const outcome = await run(command, channelId, context, attachFiles);
    if (isRejection(outcome)) return outcome;
    const [posted] = outcome.events as readonly Extract<MessageEvent, { type: 'ReplyPosted' }>[];
    if (!posted) throw new Error('reply appended no event');
    const { state: roster } = await admission.roster();
    const { author, createdAt, thread, secret } = posted.data;
    const snapshot = { id: replyId, threadId: messageId, channelId, author, createdAt, updatedAt: null };
    const reply = replyView(roster, { ...snapshot, quotedMessageId, body: secret });
    return { body: { reply, threadMeta: threadView(roster, thread) }, position: outcome.position };
  }

  /** Retries from the current content when another edit came first. */
  async function edit(...args: Parameters<typeof editOnce>): ReturnType<typeof editOnce> {
    for (let remaining = MAX_EDIT_ATTEMPTS; remaining > 0; remaining--) {
      const result = await editOnce(...args);
      if (!isRejection(result) || result.rejected !== replyChanged.rejected) return result;
    }
    throw new UnavailableError('too many concurrent edits in this thread');
  }

  async function editOnce(
    caller: Caller,
    messageId: string,
    replyId: string,
    input: MessageInput,
    context: CommandContext,
  ): Outcome<{ readonly message: ReplyView }> {
    const found = await findVisibleReply(caller, messageId, replyId);
    if ('rejected' in found) return found;
    const { channelId, author, createdAt, edits } = found;
    if (author !== caller.userId) return notAuthor;
    const from =
      (await pages.reply(channelId, replyId, found.position)) ?? (await readLatestFromLog(messageId, replyId));
    if (!from) return messageNotFound;
    const before = { id: replyId, quotedMessageId: from.quotedMessageId };
    const prepared = await prepareContent(caller, channelId, input, before);
    if ('rejected' in prepared) return prepared;
    const { quotedMessageId = from.quotedMessageId } = prepared;
    const to = { body: { ...from.body, ...prepared.body }, quotedMessageId };
    const about = { messageId, replyId, by: caller.userId, now: clock.now() };
    const command = { type: 'EditReply' as const, ...about, edit: { from, to, edits } };
    const target = { messageId, holderId: replyId, channelId };
    const attachFiles = () => uploads.attach(caller.userId, target, prepared.body, context);
    const outcome = await run(command, channelId, context, attachFiles);
    if (isRejection(outcome)) return outcome;
    const [edited] = outcome.events as readonly Extract<MessageEvent, { type: 'ReplyEdited' }>[];
    const {
      secret: body,
      editedAt: updatedAt,
      ...rest
    } = edited?.data ?? {
      secret: from.body,
      editedAt: from.updatedAt,
      quotedMessageId: from.quotedMessageId,
    };
    const quoted = { quotedMessageId: rest.quotedMessageId };
    const reply = { id: replyId, threadId: messageId, channelId, author, createdAt, updatedAt, ...quoted };
    const message = replyView((await admission.roster()).state, { ...reply, body });
    return { body: { message }, position: outcome.position };
  }

  async function findVisibleReply(caller: Caller, messageId: string, replyId: string) {
    const place = await parent(caller, messageId);
    if ('rejected' in place) return place;
    const found = await visibility.message(caller, messageId);
    if ('rejected' in found) return found;
    const reply = parentOf(replyId) === messageId ? findReply(found.state.replies, replyId) : undefined;
    if (!reply) return messageNotFound;
    const { channelId, edits } = found.state;
    return { ...reply, channelId, edits, position: found.position };
  }

  /** Content of a reply while the rows are behind; undefined when it was deleted meanwhile. */
  async function readLatestFromLog(messageId: string, replyId: string) {
    for await (const page of readBackward(log, messageStream(messageId))) {
      for (const event of page) {
        if (sliceExpired()) await yieldToEventLoop();
        const isContentEvent =
          isEvent<ContentEvent>('ReplyEdited', event) || isEvent<ContentEvent>('ReplyPosted', event);
        if (!isContentEvent || event.data.replyId !== replyId) continue;
        const { data } = await decryptEvent<ContentEvent>(catalog, event);
        const updatedAt = 'editedAt' in data ? data.editedAt : null;
        return { body: data.secret, quotedMessageId: data.quotedMessageId, updatedAt };
      }
    }
    return undefined;
  }

  async function remove(caller: Caller, messageId: string, replyId: string, context: CommandContext) {
    const found = await parent(caller, messageId);
    if ('rejected' in found) return found;
    const about = { messageId, replyId, by: caller, now: clock.now() };
    const outcome = await run({ type: 'DeleteReply', ...about }, found.channelId, context);
    if (isRejection(outcome)) return outcome;
    const thread = threadOf((await outcome.state()).replies);
    const { state: roster } = await admission.roster();
    const body = { success: true as const, threadMeta: thread && threadView(roster, thread) };
    return { body, position: outcome.position };
  }

  return { parent, post, edit, remove };
}
