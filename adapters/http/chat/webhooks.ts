/** Routes of incoming webhooks: administration, and posting messages. */
import type { Webhooks } from '../../../application/chat/admin/webhooks.js';
import { webhookAuthor } from '../../../domain/chat/webhooks.js';
import { object } from '../../../domain/shared/index.js';
import { type Route, route } from '../server/route.js';
import { type AuthGuards, access, contextFor } from './auth.js';
import { MESSAGE_LIMIT, oneMessage } from './message-schemas.js';
import type { ChatQuotas } from './quotas.js';
import { id, success, text, time } from './schemas.js';

const webhookFields = { id: text, name: text, channelId: text, createdAt: time, createdBy: text } as const;
export const webhook = object(webhookFields);
const token = { type: 'string', description: '64 hex characters; returned only here' } as const;
const createBody = object({
  name: { type: 'string', maxLength: 400, description: 'Name in the channel: 1 to 80 characters' },
  channelId: id,
});
const postBody = object({ content: { type: 'string', maxLength: 8000 } });

const ADMINS_ONLY = { description: 'The caller is not an admin' };
const tags = ['webhooks'];

export const webhookRoutes = (guards: AuthGuards, webhooks: Webhooks, quotas: ChatQuotas): readonly Route[] => [
  route({
    ...access(guards.admin, tags),
    method: 'GET',
    path: '/webhooks',
    summary: 'All webhooks, without their tokens',
    answers: {
      200: { description: 'Webhooks', schema: object({ webhooks: { type: 'array', items: webhook } }) },
      403: ADMINS_ONLY,
    },
    handle: ({ ifPosition }) => webhooks.list(ifPosition),
  }),
  route({
    ...access(guards.admin, tags),
    method: 'POST',
    path: '/webhooks',
    summary: 'Create a webhook for another program to post in a channel',
    body: createBody,
    answers: {
      200: {
        description: 'The webhook, with its token',
        schema: object({ webhook: object({ ...webhookFields, token }) }),
      },
      403: ADMINS_ONLY,
      404: { description: 'There is no such channel' },
    },
    handle: (request, caller) => webhooks.create(request.body, caller.userId, contextFor(caller, request)),
  }),
  route({
    ...access(guards.admin, tags),
    method: 'DELETE',
    path: '/webhooks/:webhookId',
    summary: 'Remove a webhook; its messages stay',
    answers: {
      200: { description: 'Removed', schema: success },
      403: ADMINS_ONLY,
      404: { description: 'There is no such webhook' },
    },
    handle: (request, caller) => webhooks.remove(request.params.webhookId, caller.userId, contextFor(caller, request)),
  }),
  route({
    method: 'POST',
    path: '/webhooks/:webhookId/messages',
    summary: 'Post a message as a webhook',
    tags,
    security: 'webhook',
    body: postBody,
    bodyLimit: MESSAGE_LIMIT,
    answers: {
      200: { description: 'Posted', schema: oneMessage },
      401: { description: 'The token is missing or invalid' },
      403: { description: 'The token is of another webhook' },
      404: { description: 'There is no such webhook' },
    },
    admit: ({ params, bearer, ifPosition }) => webhooks.authenticate(params.webhookId, bearer, ifPosition),
    quota: quotas.webhookMessages,
    async handle({ body, context }, webhook) {
      const author = webhookAuthor(webhook.id);
      return webhooks.post(webhook, body.content, context(author, author));
    },
  }),
];
