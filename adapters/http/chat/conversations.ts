/** The routes of direct messages. */
import type { Conversations } from '../../../application/chat/channels/conversations.js';
import type { Messages } from '../../../application/chat/messages/messages.js';
import type { Reading } from '../../../application/chat/messages/read-messages.js';
import type { Visibility } from '../../../application/chat/messages/visibility.js';
import type { Caller } from '../../../application/chat/sign-in/authenticate.js';
import { messageNotFound } from '../../../domain/chat/message.js';
import type { Rejection } from '../../../domain/shared/index.js';
import { type Route, route } from '../server/route.js';
import { type AuthGuards, answer, contextFor } from './auth.js';
import * as schemas from './message-schemas.js';
import { postIn, readerOf, respondWithPage } from './page-response.js';
import type { ChatQuotas } from './quotas.js';
import { success } from './schemas.js';

export interface ConversationDeps {
  readonly doors: AuthGuards;
  readonly places: Visibility;
  readonly conversations: Conversations;
  readonly messages: Messages;
  readonly reading: Reading;
  readonly quotas: Pick<ChatQuotas, 'messages'>;
}

const NO_CONVERSATION = { description: 'There is no such conversation, or it is of others' };
const NO_MESSAGE = { description: 'There is no such message in the conversation, or it is of others' };
const tags = ['conversations'];

export function conversationRoutes(deps: ConversationDeps): readonly Route[] {
  const { doors, places, conversations, messages, reading, quotas } = deps;

  /** Why a message is not one of the conversation. */
  async function outside(caller: Caller, conversationId: string, messageId: string): Promise<Rejection | undefined> {
    const found = await (caller.isAdmin ? places.findAny(messageId) : places.message(caller, messageId));
    // One that is deleted may be so by this very command, which knows.
    if ('rejected' in found) return undefined;
    return found.state.channelId === conversationId ? undefined : messageNotFound;
  }

  const list = route({
    method: 'GET',
    path: '/conversations',
    summary: "The caller's conversations, the last active first",
    tags,
    security: 'access',
    answers: { 200: { description: 'The last 1000', schema: schemas.conversations } },
    admit: doors.user,
    handle: async ({ ifPosition }, caller) => ({
      status: 200,
      ...(await conversations.list(caller, ifPosition)),
    }),
  });

  const start = route({
    method: 'POST',
    path: '/conversations',
    summary: 'Begin a conversation, or find it',
    tags,
    security: 'access',
    body: schemas.conversationBody,
    answers: {
      200: { description: 'The one of the two', schema: schemas.startedConversation },
      400: { description: 'There is no such user, or it is the caller' },
    },
    admit: doors.user,
    handle: async (request, caller) =>
      answer(await conversations.start(caller, request.body.targetUserId, contextFor(caller, request))),
  });

  const read = route({
    method: 'GET',
    path: '/conversations/:conversationId/messages',
    summary: 'What was said between the two: the newest, oldest first',
    tags,
    security: 'access',
    query: schemas.pageQuery,
    answers: {
      200: { description: 'A page', schema: schemas.messages },
      400: { description: '`before` never was a message of the conversation' },
      404: NO_CONVERSATION,
    },
    admit: doors.user,
    handle: (request, caller) =>
      respondWithPage(
        { caller, request, doors },
        (who, seen) => places.conversation(who, request.params.conversationId, seen),
        ({ id }) => reading.messages(readerOf(caller, request), id, request.query, request.ifPosition),
      ),
  });

  const post = route({
    method: 'POST',
    path: '/conversations/:conversationId/messages',
    summary: 'Say something to the other',
    tags,
    security: 'access',
    body: schemas.messageBody,
    bodyLimit: schemas.MESSAGE_LIMIT,
    answers: { 200: { description: 'Said', schema: schemas.oneMessage }, 404: NO_CONVERSATION },
    admit: doors.user,
    quota: quotas.messages,
    handle: async (request, caller) =>
      postIn(messages, await places.conversation(caller, request.params.conversationId), request, caller),
  });

  const edit = route({
    method: 'PUT',
    path: '/conversations/:conversationId/messages/:messageId',
    summary: 'Edit a direct message of one’s own',
    tags,
    security: 'access',
    body: schemas.messageBody,
    bodyLimit: schemas.MESSAGE_LIMIT,
    answers: {
      200: { description: 'Edited', schema: schemas.oneMessage },
      400: schemas.BAD_EDIT,
      403: { description: 'It is the other’s' },
      404: NO_MESSAGE,
    },
    admit: doors.user,
    quota: quotas.messages,
    async handle(request, caller) {
      const { conversationId, messageId } = request.params;
      const refusal = await outside(caller, conversationId, messageId);
      return refusal ?? answer(await messages.edit(caller, messageId, request.body, contextFor(caller, request)));
    },
  });

  const remove = route({
    method: 'DELETE',
    path: '/conversations/:conversationId/messages/:messageId',
    summary: 'Delete a direct message: its author, or an admin',
    tags,
    security: 'access',
    body: schemas.emptyBody,
    answers: {
      200: { description: 'Deleted', schema: success },
      403: { description: 'It is the other’s' },
      404: NO_MESSAGE,
    },
    admit: doors.user,
    async handle(request, caller) {
      const { conversationId, messageId } = request.params;
      const refusal = await outside(caller, conversationId, messageId);
      return refusal ?? answer(await messages.remove(caller, messageId, contextFor(caller, request)));
    },
  });

  return [list, start, read, post, edit, remove];
}
