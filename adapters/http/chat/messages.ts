/** The routes of messages in channels, and of single messages wherever they are: edits, pins, reactions, history. */
import type { History } from '../../../application/chat/messages/message-history.js';
import type { Messages } from '../../../application/chat/messages/messages.js';
import type { Reading } from '../../../application/chat/messages/read-messages.js';
import { parentOf, type Visibility } from '../../../application/chat/messages/visibility.js';
import type { Caller } from '../../../application/chat/sign-in/authenticate.js';
import type { Budget } from '../../../application/concurrency/index.js';
import { MOST_CHANGES } from '../../../domain/chat/edit-limit.js';
import { MOST_EVER, MOST_REACTIONS } from '../../../domain/chat/reactions.js';
import { isRejection } from '../../../domain/shared/index.js';
import { type Request, type Route, route } from '../server/route.js';
import { type AuthGuards, answer, contextFor } from './auth.js';
import * as schemas from './message-schemas.js';
import { postIn, readerOf, recheckAccess, respondWithPage } from './page-response.js';
import type { ChatQuotas } from './quotas.js';
import { success } from './schemas.js';
import { streamChunks } from './stream-download.js';

export interface MessageDeps {
  readonly doors: AuthGuards;
  readonly places: Visibility;
  readonly messages: Messages;
  readonly reading: Reading;
  readonly history: History;
  readonly downloads: Budget;
  readonly quotas: Pick<ChatQuotas, 'messages'>;
}

const NO_CHANNEL = { description: 'There is no such channel, or it is not told to the caller' };
const NO_MESSAGE = { description: 'There is no such message, or the caller does not see it' };
const tags = ['messages'];

export function messageRoutes({
  doors,
  places,
  messages,
  reading,
  history,
  downloads,
  quotas,
}: MessageDeps): readonly Route[] {
  const list = route({
    method: 'GET',
    path: '/channels/:channelId/messages',
    summary: 'What was said in a channel: the newest, oldest first',
    tags,
    security: 'access',
    query: schemas.pageQuery,
    answers: {
      200: { description: 'A page', schema: schemas.messages },
      400: { description: '`before` never was a message of the channel' },
      404: NO_CHANNEL,
    },
    admit: doors.user,
    handle: (request, caller) =>
      respondWithPage(
        { caller, request, doors },
        (who, seen) => places.channel(who, request.params.channelId, seen),
        ({ id }) => reading.messages(readerOf(caller, request), id, request.query, request.ifPosition),
      ),
  });

  const post = route({
    method: 'POST',
    path: '/channels/:channelId/messages',
    summary: 'Say something in a channel',
    tags,
    security: 'access',
    body: schemas.messageBody,
    bodyLimit: schemas.MESSAGE_LIMIT,
    answers: {
      200: { description: 'Said', schema: schemas.oneMessage },
      400: { description: 'It says nothing, or what hangs on it or is quoted is not there' },
      404: NO_CHANNEL,
    },
    admit: doors.user,
    quota: quotas.messages,
    handle: async (request, caller) =>
      postIn(messages, await places.channel(caller, request.params.channelId), request, caller),
  });

  const pins = route({
    method: 'GET',
    path: '/channels/:channelId/pins',
    summary: 'What is pinned in a channel, the newest pin first',
    tags,
    security: 'access',
    answers: { 200: { description: 'The newest 500', schema: schemas.messages }, 404: NO_CHANNEL },
    admit: doors.user,
    handle: (request, caller) =>
      respondWithPage(
        { caller, request, doors },
        (who, seen) => places.channel(who, request.params.channelId, seen),
        ({ id }) => reading.pins(readerOf(caller, request), id, request.ifPosition),
      ),
  });

  const edit = route({
    method: 'PUT',
    path: '/messages/:messageId',
    summary: 'Edit a message of one’s own',
    description: `What is not given stays as it is. One person edits and pins a message ${MOST_CHANGES} times.`,
    tags,
    security: 'access',
    body: schemas.messageBody,
    bodyLimit: schemas.MESSAGE_LIMIT,
    answers: {
      200: { description: 'Edited', schema: schemas.oneMessage },
      400: schemas.BAD_EDIT,
      403: { description: 'It is another’s' },
      404: NO_MESSAGE,
    },
    admit: doors.user,
    quota: quotas.messages,
    handle: async (request, caller) =>
      answer(await messages.edit(caller, request.params.messageId, request.body, contextFor(caller, request))),
  });

  const remove = route({
    method: 'DELETE',
    path: '/messages/:messageId',
    summary: 'Delete a message with its thread: its author, or an admin',
    tags,
    security: 'access',
    body: schemas.emptyBody,
    answers: {
      200: { description: 'Deleted', schema: success },
      403: { description: 'It is another’s' },
      404: NO_MESSAGE,
    },
    admit: doors.user,
    handle: async (request, caller) =>
      answer(await messages.remove(caller, request.params.messageId, contextFor(caller, request))),
  });

  const pin = (method: 'POST' | 'DELETE', type: 'PinMessage' | 'UnpinMessage', summary: string) =>
    route({
      method,
      path: '/messages/:messageId/pin',
      summary,
      tags,
      security: 'access',
      body: schemas.emptyBody,
      answers: {
        200: { description: 'The message', schema: schemas.oneMessage },
        400: { description: 'It is a direct message' },
        404: NO_MESSAGE,
      },
      admit: doors.user,
      quota: quotas.messages,
      handle: async (request, caller) =>
        answer(await messages.pin(type, caller, request.params.messageId, contextFor(caller, request))),
    });

  const react = (method: 'POST' | 'DELETE', type: 'AddReaction' | 'RemoveReaction', summary: string) =>
    route({
      method,
      path: '/messages/:messageId/reactions',
      summary,
      description: `A message takes ${MOST_REACTIONS} different ones of one person, ${MOST_EVER} with those taken back.`,
      tags,
      security: 'access',
      body: schemas.reactionBody,
      answers: { 200: { description: 'All reactions', schema: schemas.reacted }, 404: NO_MESSAGE },
      admit: doors.user,
      quota: quotas.messages,
      handle: async (request: Request<{ reaction: string }, unknown, { messageId: string }>, caller: Caller) => {
        const { params, body } = request;
        const context = contextFor(caller, request);
        return answer(await messages.react(type, caller, params.messageId, body.reaction, context));
      },
    });

  const versions = route({
    method: 'GET',
    path: '/messages/:messageId/history',
    summary: 'Every version of a message, oldest first',
    description: 'Streamed, as of when it was asked for: a message may have been edited very often.',
    tags,
    security: 'access',
    answers: { 200: { description: 'From the log', schema: schemas.history }, 404: NO_MESSAGE },
    admit: doors.user,
    async handle(request, caller) {
      const { messageId: id } = request.params;
      const found = await history(caller, id, request.ifPosition);
      if (isRejection(found)) return found;
      const reader = { caller, request, doors };
      const message = parentOf(id) ?? id;
      const refused = await recheckAccess(reader, (who, seen) => places.locate(who, message, seen), found.position);
      return refused ?? streamChunks(request, found, downloads, caller.userId);
    },
  });

  return [
    list,
    post,
    pins,
    edit,
    remove,
    pin('POST', 'PinMessage', 'Pin a message of a channel'),
    pin('DELETE', 'UnpinMessage', 'Take a pin off'),
    react('POST', 'AddReaction', 'React to a message'),
    react('DELETE', 'RemoveReaction', 'Take a reaction back'),
    versions,
  ];
}
