/** Routes of threads: replies to messages of channels. */
import type { Replies } from '../../../application/chat/messages/replies.js';
import { type Route, route } from '../server/route.js';
import { access, contextFor, readerOf, respondWithPage } from './auth.js';
import * as schemas from './message-schemas.js';
import type { MessageDeps } from './messages.js';

export interface ThreadDeps extends Pick<MessageDeps, 'guards' | 'reading' | 'quotas'> {
  readonly replies: Replies;
}

const NO_MESSAGE = { description: 'There is no such message or reply, or the caller can not see it' };
const NO_THREAD = { description: 'Replies and direct messages can not have replies' };

export function threadRoutes({ guards, replies, reading, quotas }: ThreadDeps): readonly Route[] {
  const user = access(guards.user, ['threads']);
  return [
    route({
      ...user,
      method: 'GET',
      path: '/messages/:messageId/thread',
      summary: 'The newest replies to a message, oldest first',
      query: schemas.pageQuery,
      answers: {
        200: { description: 'A page', schema: schemas.replies },
        400: { description: '`before` or `after` was never a reply to the message, or it can not have replies' },
        404: NO_MESSAGE,
      },
      handle(request, caller) {
        const { query, ifPosition } = request;
        const { messageId } = request.params;
        return respondWithPage(
          { caller, request, guards },
          (user, position) => replies.parent(user, messageId, position),
          ({ channelId }) => reading.replies(readerOf(caller, request), channelId, messageId, query, ifPosition),
        );
      },
    }),
    route({
      ...user,
      method: 'POST',
      path: '/messages/:messageId/thread',
      summary: 'Reply to a message of a channel',
      ...schemas.writing(quotas),
      answers: { 200: { description: 'Replied', schema: schemas.replied }, 400: NO_THREAD, 404: NO_MESSAGE },
      handle: (request, caller) =>
        replies.post(caller, request.params.messageId, request.body, contextFor(caller, request)),
    }),
    route({
      ...user,
      method: 'PUT',
      path: '/messages/:messageId/thread/:replyId',
      summary: 'Edit an own reply',
      ...schemas.writing(quotas),
      answers: {
        200: { description: 'Edited', schema: schemas.oneReply },
        400: schemas.BAD_EDIT,
        403: { description: 'The reply is of another user' },
        404: NO_MESSAGE,
      },
      async handle(request, caller) {
        const { messageId, replyId } = request.params;
        return replies.edit(caller, messageId, replyId, request.body, contextFor(caller, request));
      },
    }),
    route({
      ...user,
      method: 'DELETE',
      path: '/messages/:messageId/thread/:replyId',
      summary: 'Delete a reply, as its author or an admin',
      body: schemas.emptyBody,
      answers: {
        200: { description: 'Deleted', schema: schemas.unreplied },
        403: { description: 'The reply is of another user' },
        404: NO_MESSAGE,
      },
      async handle(request, caller) {
        const { messageId, replyId } = request.params;
        return replies.remove(caller, messageId, replyId, contextFor(caller, request));
      },
    }),
  ];
}
