/** Routes of direct messages. */
import type { Conversations } from '../../../application/chat/channels/conversations.js';
import type { Caller } from '../../../application/chat/sign-in/authenticate.js';
import { messageNotFound } from '../../../domain/chat/message.js';
import { isRejection, type Rejection } from '../../../domain/shared/index.js';
import { type Route, route } from '../server/route.js';
import { access, contextFor, readerOf, respondWithPage } from './auth.js';
import * as schemas from './message-schemas.js';
import type { MessageDeps } from './messages.js';
import { success } from './schemas.js';

export interface ConversationDeps
  extends Pick<MessageDeps, 'guards' | 'visibility' | 'messages' | 'reading' | 'quotas'> {
  readonly conversations: Conversations;
}

const NO_CONVERSATION = { description: 'There is no such conversation of the caller' };
const NO_MESSAGE = { description: 'There is no such message in a conversation of the caller' };

export function conversationRoutes(deps: ConversationDeps): readonly Route[] {
  const { guards, visibility, conversations, messages, reading, quotas } = deps;
  const user = access(guards.user, ['conversations']);

  /** Rejects messages that belong to another conversation. */
  async function checkConversation(
    caller: Caller,
    conversationId: string,
    messageId: string,
  ): Promise<Rejection | undefined> {
    const location = await (caller.isAdmin ? visibility.findAny(messageId) : visibility.message(caller, messageId));
    // A missing message may have been deleted by the first run of this command, which decides itself.
    if ('rejected' in location) return undefined;
    return location.state.channelId === conversationId ? undefined : messageNotFound;
  }

  return [
    route({
      ...user,
      method: 'GET',
      path: '/conversations',
      summary: "The caller's conversations, last active first",
      answers: { 200: { description: 'The last 1000', schema: schemas.conversations } },
      handle: ({ ifPosition }, caller) => conversations.list(caller, ifPosition),
    }),
    route({
      ...user,
      method: 'POST',
      path: '/conversations',
      summary: 'Start a conversation, or find the existing one',
      body: schemas.conversationBody,
      answers: {
        200: { description: 'The conversation', schema: schemas.startedConversation },
        400: { description: 'There is no such user, or it is the caller' },
      },
      handle: (request, caller) => conversations.start(caller, request.body.targetUserId, contextFor(caller, request)),
    }),
    route({
      ...user,
      method: 'GET',
      path: '/conversations/:conversationId/messages',
      summary: 'The newest messages of a conversation, oldest first',
      query: schemas.pageQuery,
      answers: {
        200: { description: 'A page', schema: schemas.messages },
        400: { description: '`before` or `after` was never a message of the conversation' },
        404: NO_CONVERSATION,
      },
      handle: (request, caller) =>
        respondWithPage(
          { caller, request, guards },
          (user, position) => visibility.conversation(user, request.params.conversationId, position),
          ({ id }) => reading.messages(readerOf(caller, request), id, request.query, request.ifPosition),
        ),
    }),
    route({
      ...user,
      method: 'POST',
      path: '/conversations/:conversationId/messages',
      summary: 'Post a direct message',
      ...schemas.writing(quotas),
      answers: { 200: { description: 'Posted', schema: schemas.oneMessage }, 404: NO_CONVERSATION },
      async handle(request, caller) {
        const conversation = await visibility.conversation(caller, request.params.conversationId);
        if (isRejection(conversation)) return conversation;
        return messages.post(caller, conversation.id, request.body, contextFor(caller, request));
      },
    }),
    route({
      ...user,
      method: 'PUT',
      path: '/conversations/:conversationId/messages/:messageId',
      summary: 'Edit an own direct message',
      ...schemas.writing(quotas),
      answers: {
        200: { description: 'Edited', schema: schemas.oneMessage },
        400: schemas.BAD_EDIT,
        403: { description: 'The message is of the other user' },
        404: NO_MESSAGE,
      },
      async handle(request, caller) {
        const { conversationId, messageId } = request.params;
        const refusal = await checkConversation(caller, conversationId, messageId);
        return refusal ?? messages.edit(caller, messageId, request.body, contextFor(caller, request));
      },
    }),
    route({
      ...user,
      method: 'DELETE',
      path: '/conversations/:conversationId/messages/:messageId',
      summary: 'Delete a direct message, as its author or an admin',
      body: schemas.emptyBody,
      answers: {
        200: { description: 'Deleted', schema: success },
        403: { description: 'The message is of the other user' },
        404: NO_MESSAGE,
      },
      async handle(request, caller) {
        const { conversationId, messageId } = request.params;
        const refusal = await checkConversation(caller, conversationId, messageId);
        return refusal ?? messages.remove(caller, messageId, contextFor(caller, request));
      },
    }),
  ];
}
