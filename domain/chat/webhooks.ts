/** Webhooks let programs post to a channel; part of the channels aggregate. */

import { decideByType, type Evolve, fitName, PersistentMap, rejection } from '../shared/index.js';
import type { ChatEvent } from './catalog.js';
import { badLength } from './limits.js';

const WEBHOOK_NAME_LENGTH = 80;

export interface Webhook {
  readonly id: string;
  readonly channelId: string;
  readonly name: string;
  /** SHA-256; the token itself is not stored. */
  readonly tokenHash: string;
  readonly createdBy: string;
  readonly createdAt: number;
}

export type Webhooks = PersistentMap<Webhook>;

export type WebhookCommand =
  | {
      type: 'CreateWebhook';
      webhookId: string;
      channelId: string;
      by: string;
      name: string;
      tokenHash: string;
      now: number;
    }
  | { type: 'DeleteWebhook'; webhookId: string; by: string; now: number };

export type WebhookEvent = ChatEvent<'WebhookCreated' | 'WebhookDeleted'>;

export const noWebhooks: Webhooks = PersistentMap.empty();

export const webhookNotFound = rejection('chat/webhook-not-found', 'not-found', 'Webhook not found');
const badName = badLength('chat/bad-webhook-name', 'name', WEBHOOK_NAME_LENGTH);

export const webhookAuthor = (webhookId: string): string => `webhook:${webhookId}`;

export const webhooksOf = (webhooks: Webhooks): readonly Webhook[] =>
  [...webhooks.values()].sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));

/** The channel must exist. */
export const decideWebhook = decideByType<Webhooks, WebhookCommand, WebhookEvent>({
  CreateWebhook({ webhookId, channelId, by: createdBy, name: rawName, tokenHash, now: createdAt }) {
    const name = fitName(rawName, WEBHOOK_NAME_LENGTH);
    if (name === undefined) return badName;
    const data = { webhookId, channelId, createdBy, createdAt, tokenHash, secret: { name } };
    return [{ type: 'WebhookCreated', data }];
  },
  DeleteWebhook({ webhookId, by, now: deletedAt }, webhooks) {
    const webhook = webhooks.get(webhookId);
    if (!webhook) return webhookNotFound;
    return [{ type: 'WebhookDeleted', data: { webhookId, channelId: webhook.channelId, by, deletedAt } }];
  },
});

export const withoutChannel = (webhooks: Webhooks, channelId: string): Webhooks =>
  [...webhooks.values()]
    .filter((each) => each.channelId === channelId)
    .reduce((left, { id }) => left.delete(id), webhooks);

export const evolveWebhooks: Evolve<Webhooks, WebhookEvent> = {
  WebhookCreated: (webhooks, { webhookId: id, channelId, createdBy, createdAt, tokenHash, secret }) =>
    webhooks.set(id, { id, channelId, name: secret.name, tokenHash, createdBy, createdAt }),
  WebhookDeleted: (webhooks, { webhookId }) => webhooks.delete(webhookId),
};
