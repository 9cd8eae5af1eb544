/** What people do with messages, in channels and between two. */
import { participantsOf } from '../../../domain/chat/conversation-id.js';
import { EMPTY_CONTENT } from '../../../domain/chat/events/messages.js';
import {
  type MessageCommand,
  type MessageState,
  messageNotFound,
  messageStream,
  notAuthor,
} from '../../../domain/chat/message.js';
import { reactionsOf } from '../../../domain/chat/reactions.js';
import { threadOf } from '../../../domain/chat/thread.js';
import { isRejection, type Rejection } from '../../../domain/shared/index.js';
import type { HandleCommand, Idempotency } from '../../command/index.js';
import type { Clock, CommandContext, Derivation, EventLog } from '../../ports/index.js';
import { messageAggregate } from '../aggregates.js';
import { conversationListKey } from '../channels/conversations.js';
import type { Attachments } from '../files/attachments.js';
import type { Authentication, Caller } from '../sign-in/authenticate.js';
import type { CommandResult } from '../sign-in/sessions.js';
import { type MessageView, messageView } from '../view-models.js';
import type { WritePositions } from './acknowledged-positions.js';
import type { MessageInput, PrepareContent, PreparedContent } from './prepare-content.js';
import { isMessageId, type Visibility } from './visibility.js';

export interface MessagePorts {
  readonly handle: HandleCommand;
  readonly repetition: Idempotency;
  readonly derivation: Derivation;
  readonly clock: Clock;
  readonly log: Pick<EventLog, 'read'>;
  readonly admission: Authentication;
  readonly places: Visibility;
  readonly prepareContent: PrepareContent;
  readonly uploads: Pick<Attachments, 'attach'>;
  readonly acknowledged: WritePositions;
}

export interface Success {
  readonly success: true;
}

export type Messages = ReturnType<typeof createMessages>;

/** A message as its state says. */
const standingOf = (id: string, state: MessageState) => {
  const { channelId, author, createdAt, updatedAt, pinnedAt, quotedMessageId, said } = state;
  const message = { id, channelId, author, createdAt, updatedAt, pinnedAt, quotedMessageId, said };
  return { ...message, reactions: reactionsOf(state.reacting), thread: threadOf(state.replies) };
};

export function createMessages(ports: MessagePorts) {
  const { handle, repetition, derivation, clock, log, admission, places, prepareContent, uploads, acknowledged } =
    ports;

  /** Into a channel or a conversation that the caller is known to see. */
  async function post(
    caller: Caller,
    channelId: string,
    wording: MessageInput,
    context: CommandContext,
  ): Promise<CommandResult<{ readonly message: MessageView }> | Rejection> {
    const ready = await prepareContent(caller, channelId, wording);
    return 'rejected' in ready ? ready : say(caller.userId, channelId, ready, context);
  }

  /** What is made ready: by an author who may say it there. */
  async function say(
    author: string,
    channelId: string,
    { said, quotedMessageId = null }: PreparedContent,
    context: CommandContext,
  ): Promise<CommandResult<{ readonly message: MessageView }> | Rejection> {
    const messageId = derivation.idInTime('chat.message', context.commandId);
    const about = { messageId, channelId, author, now: clock.now() };
    const command = {
      type: 'PostMessage' as const,
      ...about,
      said: { ...EMPTY_CONTENT, ...said },
      quotedMessageId,
    };
    const holding = { messageId, holderId: messageId, channelId };
    const done = await run(messageId, command, context, () => uploads.attach(author, holding, said, context));
    if (isRejection(done)) return done;
    return { body: { message: await viewed(messageId, done.state) }, position: done.position };
  }

  const viewed = async (messageId: string, state: MessageState): Promise<MessageView> =>
    messageView((await admission.roster()).state, standingOf(messageId, state));

  /** Answers the message as it is by the command. */
  async function run(
    messageId: string,
    command: MessageCommand,
    context: CommandContext,
    before?: () => Promise<Rejection | undefined>,
  ) {
    const outcome = await handle(messageAggregate, messageStream(messageId), command, context, before);
    if (isRejection(outcome)) return outcome;
    const state = await outcome.state();
    acknowledged.note(state.channelId, outcome.position);
    if (command.type === 'PostMessage')
      for (const each of participantsOf(state.channelId) ?? [])
        acknowledged.note(conversationListKey(each), outcome.position);
    return { state, position: outcome.position };
  }

  async function edit(
    caller: Caller,
    messageId: string,
    wording: MessageInput,
    context: CommandContext,
  ): Promise<CommandResult<{ readonly message: MessageView }> | Rejection> {
    const found = await places.message(caller, messageId);
    if ('rejected' in found) return found;
    const { author, channelId, quotedMessageId } = found.state;
    if (author !== caller.userId) return notAuthor;
    const ready = await prepareContent(caller, channelId, wording, { id: messageId, quotedMessageId });
    if ('rejected' in ready) return ready;
    const about = { messageId, by: caller.userId, now: clock.now() };
    const command = { type: 'EditMessage' as const, ...about, ...ready };
    const holding = { messageId, holderId: messageId, channelId };
    const hang = () => uploads.attach(caller.userId, holding, ready.said, context);
    const done = await run(messageId, command, context, hang);
    if (isRejection(done)) return done;
    return { body: { message: await viewed(messageId, done.state) }, position: done.position };
  }

  /** Admins delete whatever there is, also between two others. */
  async function remove(
    caller: Caller,
    messageId: string,
    context: CommandContext,
  ): Promise<CommandResult<Success> | Rejection> {
    const found = await (caller.isAdmin ? places.findAny(messageId) : places.message(caller, messageId));
    // It may be this very command that has deleted it.
    if ('rejected' in found) return (await removed(messageId, context)) ?? found;
    const posted = await log.read(messageStream(messageId), { from: 0, limit: 1 });
    const [first] = typeof posted === 'string' ? [] : posted;
    if (!first) return messageNotFound;
    const about = { messageId, by: caller, postedPosition: String(first.position), now: clock.now() };
    const done = await run(messageId, { type: 'DeleteMessage', ...about }, context);
    return isRejection(done) ? done : { body: { success: true }, position: done.position };
  }

  async function removed(
    messageId: string,
    context: CommandContext,
  ): Promise<CommandResult<Success> | Rejection | undefined> {
    if (context.fingerprint === undefined || !isMessageId(messageId)) return undefined;
    const earlier = await repetition.findResult(messageAggregate, messageStream(messageId), context);
    if (!earlier || isRejection(earlier)) return earlier;
    return { body: { success: true }, position: earlier.position };
  }

  async function pin(
    type: 'PinMessage' | 'UnpinMessage',
    caller: Caller,
    messageId: string,
    context: CommandContext,
  ): Promise<CommandResult<{ readonly message: MessageView }> | Rejection> {
    const found = await places.message(caller, messageId);
    if ('rejected' in found) return found;
    const command = { type, messageId, by: caller.userId, now: clock.now() };
    const done = await run(messageId, command, context);
    if (isRejection(done)) return done;
    return { body: { message: await viewed(messageId, done.state) }, position: done.position };
  }

  async function react(
    type: 'AddReaction' | 'RemoveReaction',
    caller: Caller,
    messageId: string,
    reaction: string,
    context: CommandContext,
  ): Promise<CommandResult<{ readonly message: Pick<MessageView, 'id' | 'channelId' | 'reactions'> }> | Rejection> {
    const found = await places.message(caller, messageId);
    if ('rejected' in found) return found;
    const command = { type, messageId, userId: caller.userId, reaction, now: clock.now() };
    const done = await run(messageId, command, context);
    if (isRejection(done)) return done;
    const { channelId, reacting } = done.state;
    const message = { id: messageId, channelId, reactions: reactionsOf(reacting) };
    return { body: { message }, position: done.position };
  }

  return { post, say, edit, remove, pin, react };
}
