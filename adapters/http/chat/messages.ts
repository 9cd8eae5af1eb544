/** Routes of messages: in channels, and edits, pins, reactions and history of single messages. */
import type { History } from '../../../application/chat/messages/message-history.js';
import type { Messages } from '../../../application/chat/messages/messages.js';
import type { MessageReader } from '../../../application/chat/messages/read-messages.js';
import type { Visibility } from '../../../application/chat/messages/visibility.js';
import type { Budget } from '../../../application/concurrency/index.js';
import { MAX_CHANGES } from '../../../domain/chat/message.js';
import { MAX_REACTIONS } from '../../../domain/chat/reactions.js';
import { isRejection } from '../../../domain/shared/index.js';
import { sendJsonStream } from '../server/download.js';
import { type Route, route } from '../server/route.js';
import { type AuthGuards, access, contextFor, readerOf, recheckAccess, respondWithPage } from './auth.js';
import * as schemas from './message-schemas.js';
import type { ChatQuotas } from './quotas.js';
import { success } from './schemas.js';

export interface MessageDeps {
  readonly guards: AuthGuards;
  readonly visibility: Visibility;
  readonly messages: Messages;
  readonly reading: MessageReader;
  readonly history: History;
  readonly downloads: Budget;
  readonly quotas: Pick<ChatQuotas, 'messages'>;
}

const NO_CHANNEL = { description: 'There is no such channel, or the caller can not see it' };
const NO_MESSAGE = { description: 'There is no such message, or the caller can not see it' };

export function messageRoutes(deps: MessageDeps): readonly Route[] {
  const { guards, visibility, messages, reading, history, downloads, quotas } = deps;
  const user = access(guards.user, ['messages']);
  const pin = (method: 'POST' | 'DELETE', type: 'PinMessage' | 'UnpinMessage', summary: string) =>
    route({
      ...user,
      method,
      path: '/messages/:messageId/pin',
      summary,
      body: schemas.emptyBody,
      answers: {
        200: { description: 'The message', schema: schemas.oneMessage },
        400: { description: 'Direct messages can not be pinned' },
        404: NO_MESSAGE,
      },
      quota: quotas.messages,
      handle: (request, caller) => messages.pin(type, caller, request.params.messageId, contextFor(caller, request)),
    });

  const react = (method: 'POST' | 'DELETE', type: 'AddReaction' | 'RemoveReaction', summary: string) =>
    route({
      ...user,
      method,
      path: '/messages/:messageId/reactions',
      summary,
      description: `At most ${MAX_REACTIONS} different reactions per user and message.`,
      body: schemas.reactionBody,
      answers: { 200: { description: 'All reactions', schema: schemas.reacted }, 404: NO_MESSAGE },
      quota: quotas.messages,
      handle: (request, caller) =>
        messages.react(type, caller, request.params.messageId, request.body.reaction, contextFor(caller, request)),
    });

  return [
    route({
      ...user,
      method: 'GET',
      path: '/channels/:channelId/messages',
      summary: 'The newest messages of a channel, oldest first',
      query: schemas.pageQuery,
      answers: {
        200: { description: 'A page', schema: schemas.messages },
        400: { description: '`before` or `after` was never a message of the channel' },
        404: NO_CHANNEL,
      },
      handle: (request, caller) =>
        respondWithPage(
          { caller, request, guards },
          (user, position) => visibility.channel(user, request.params.channelId, position),
          ({ id }) => reading.messages(readerOf(caller, request), id, request.query, request.ifPosition),
        ),
    }),
    route({
      ...user,
      method: 'POST',
      path: '/channels/:channelId/messages',
      summary: 'Post a message in a channel',
      ...schemas.writing(quotas),
      answers: {
        200: { description: 'Posted', schema: schemas.oneMessage },
        400: { description: 'The message is empty, or an attachment or the quoted message does not exist' },
        404: NO_CHANNEL,
      },
      async handle(request, caller) {
        const channel = await visibility.channel(caller, request.params.channelId);
        if (isRejection(channel)) return channel;
        return messages.post(caller, channel.id, request.body, contextFor(caller, request));
      },
    }),
    route({
      ...user,
      method: 'GET',
      path: '/channels/:channelId/pins',
      summary: 'The pinned messages of a channel, newest pin first',
      answers: { 200: { description: 'The newest 500', schema: schemas.messages }, 404: NO_CHANNEL },
      handle: (request, caller) =>
        respondWithPage(
          { caller, request, guards },
          (user, position) => visibility.channel(user, request.params.channelId, position),
          ({ id }) => reading.pins(readerOf(caller, request), id, request.ifPosition),
        ),
    }),
    route({
      ...user,
      method: 'PUT',
      path: '/messages/:messageId',
      summary: 'Edit an own message',
      description: `Omitted fields stay unchanged. A user can edit and pin a message up to ${MAX_CHANGES} times.`,
      ...schemas.writing(quotas),
      answers: {
        200: { description: 'Edited', schema: schemas.oneMessage },
        400: schemas.BAD_EDIT,
        403: { description: 'The message is of another user' },
        404: NO_MESSAGE,
      },
      handle: (request, caller) =>
        messages.edit(caller, request.params.messageId, request.body, contextFor(caller, request)),
    }),
    route({
      ...user,
      method: 'DELETE',
      path: '/messages/:messageId',
      summary: 'Delete a message with its thread, as its author or an admin',
      body: schemas.emptyBody,
      answers: {
        200: { description: 'Deleted', schema: success },
        403: { description: 'The message is of another user' },
        404: NO_MESSAGE,
      },
      handle: (request, caller) => messages.remove(caller, request.params.messageId, contextFor(caller, request)),
    }),
    pin('POST', 'PinMessage', 'Pin a message of a channel'),
    pin('DELETE', 'UnpinMessage', 'Unpin a message'),
    react('POST', 'AddReaction', 'React to a message'),
    react('DELETE', 'RemoveReaction', 'Remove a reaction'),
    route({
      ...user,
      method: 'GET',
      path: '/messages/:messageId/history',
      summary: 'All versions of a message, oldest first',
      description: 'Streamed, as of the time of the request, as a message may have many versions.',
      answers: { 200: { description: 'The versions', schema: schemas.history }, 404: NO_MESSAGE },
      async handle(request, caller) {
        const { messageId: id } = request.params;
        const versions = await history(caller, id, request.ifPosition);
        if (isRejection(versions)) return versions;
        const refusal = await recheckAccess(
          { caller, request, guards },
          (user, position) => visibility.message(user, id, position),
          versions.position,
        );
        return refusal ?? sendJsonStream(request, versions, downloads, caller.userId);
      },
    }),
  ];
}
