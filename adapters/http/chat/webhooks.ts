/** The routes of webhooks: for admins, and the one by which they speak. */
import type { Webhooks } from '../../../application/chat/admin/webhooks.js';
import { webhookAuthor } from '../../../domain/chat/webhooks.js';
import { object } from '../../../domain/shared/index.js';
import { type Route, route } from '../server/route.js';
import { type AuthGuards, answer, contextFor } from './auth.js';
import { MESSAGE_LIMIT, oneMessage } from './message-schemas.js';
import type { ChatQuotas } from './quotas.js';
import { success, text, time } from './schemas.js';

export interface WebhookDeps {
  readonly doors: AuthGuards;
  readonly webhooks: Webhooks;
  readonly quotas: Pick<ChatQuotas, 'webhookMessages'>;
}

const shown = { id: text, name: text, channelId: text, createdAt: time, createdBy: text } as const;
export const webhook = object(shown);
const token = { type: 'string', description: '64 hex characters; told here and nowhere else' } as const;
const createBody = object({
  name: {
    type: 'string',
    maxLength: 400,
    description: 'What it is called in the channel: 1 to 80 characters',
  },
  channelId: { type: 'string', maxLength: 64 },
});
const speakBody = object({ content: { type: 'string', maxLength: 8000 } });

const ADMINS_ONLY = { description: 'The caller is no admin' };
const tags = ['webhooks'];

export const webhookRoutes = ({ doors, webhooks, quotas }: WebhookDeps): readonly Route[] => [
  route({
    method: 'GET',
    path: '/webhooks',
    summary: 'All webhooks, without their tokens',
    tags,
    security: 'access',
    answers: {
      200: { description: 'Webhooks', schema: object({ webhooks: { type: 'array', items: webhook } }) },
      403: ADMINS_ONLY,
    },
    admit: doors.admin,
    handle: async ({ ifPosition }) => answer(await webhooks.list(ifPosition)),
  }),
  route({
    method: 'POST',
    path: '/webhooks',
    summary: 'Let another program speak in a channel',
    tags,
    security: 'access',
    body: createBody,
    answers: {
      200: {
        description: 'The webhook, with its token',
        schema: object({ webhook: object({ ...shown, token }) }),
      },
      403: ADMINS_ONLY,
      404: { description: 'There is no such channel' },
    },
    admit: doors.admin,
    handle: async (request, caller) =>
      answer(await webhooks.create(request.body, caller.userId, contextFor(caller, request))),
  }),
  route({
    method: 'DELETE',
    path: '/webhooks/:webhookId',
    summary: 'Remove a webhook; what it said stays',
    tags,
    security: 'access',
    answers: {
      200: { description: 'Removed', schema: success },
      403: ADMINS_ONLY,
      404: { description: 'There is no such webhook' },
    },
    admit: doors.admin,
    handle: async (request, caller) =>
      answer(await webhooks.remove(request.params.webhookId, caller.userId, contextFor(caller, request))),
  }),
  route({
    method: 'POST',
    path: '/webhooks/:webhookId/messages',
    summary: 'Say something as a webhook',
    tags,
    security: 'webhook',
    body: speakBody,
    bodyLimit: MESSAGE_LIMIT,
    answers: {
      200: { description: 'Said', schema: oneMessage },
      401: { description: 'The token is missing, or is none' },
      403: { description: 'The token is of another webhook' },
      404: { description: 'There is no such webhook' },
    },
    admit: ({ params, bearer, ifPosition }) => webhooks.admit(params.webhookId, bearer, ifPosition),
    quota: quotas.webhookMessages,
    async handle({ body, context }, webhook) {
      const author = webhookAuthor(webhook.id);
      return answer(await webhooks.say(webhook, body.content, context(author, author)));
    },
  }),
];
