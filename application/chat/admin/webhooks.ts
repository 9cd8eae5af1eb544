/** Use cases on webhooks: create, delete, list, and post with a webhook's token. */

import { hash } from 'node:crypto';
import { CHANNELS, type ChannelsCommand, type ChannelsState } from '../../../domain/chat/channels.js';
import { type Webhook, webhookAuthor, webhookNotFound, webhooksOf } from '../../../domain/chat/webhooks.js';
import { isRejection, type Rejection, rejection } from '../../../domain/shared/index.js';
import { type CommandOutcome, resultOf } from '../../command/index.js';
import type { CommandContext, Position } from '../../ports/index.js';
import { channelsAggregate } from '../aggregates.js';
import { findMentions } from '../messages/message-content.js';
import type { MessageView } from '../messages/message-view.js';
import type { Messages } from '../messages/messages.js';
import type { ChatPorts } from '../sign-in/authenticate.js';

export interface WebhookPorts extends Pick<ChatPorts, 'handle' | 'aggregates' | 'derivation' | 'clock' | 'admission'> {
  readonly messages: Messages;
}

export const webhookView = ({ tokenHash: _, ...webhook }: Webhook) => webhook;

const noToken = rejection('chat/bad-webhook-token', 'unauthenticated', 'The webhook token is missing or invalid');
const tokenOfAnotherWebhook = rejection(
  'chat/token-of-another-webhook',
  'forbidden',
  'The token belongs to another webhook',
);

/** Only this hash of a token is stored. */
const hashOf = (token: string): string => hash('sha256', token, 'base64url');

export type Webhooks = ReturnType<typeof createWebhooks>;

export function createWebhooks({ handle, aggregates, derivation, clock, admission, messages }: WebhookPorts) {
  const run = (command: ChannelsCommand, context: CommandContext) =>
    handle(channelsAggregate, CHANNELS, command, context);

  /** `by` must be an admin. Repeating the command returns the same token, which is shown nowhere else. */
  async function create(
    { name, channelId }: { readonly name: string; readonly channelId: string },
    by: string,
    context: CommandContext,
  ) {
    const webhookId = derivation.id('chat.webhook', context.commandId);
    const token = derivation.secret('chat.webhook-token', context.commandId).toString('hex');
    const about = { webhookId, channelId, by, name, tokenHash: hashOf(token), now: clock.now() };
    return resultOf(await run({ type: 'CreateWebhook', ...about }, context), ({ webhooks }) => {
      const webhook = webhooks.get(webhookId);
      if (!webhook) throw new Error('created webhook is missing from the state');
      return { webhook: { ...webhookView(webhook), token } };
    });
  }

  const remove = async (webhookId: string, by: string, context: CommandContext) =>
    resultOf(await run({ type: 'DeleteWebhook', webhookId, by, now: clock.now() }, context), { success: true });

  async function list(seen?: Position) {
    const { state, position } = await admission.load(channelsAggregate, CHANNELS, seen);
    return { body: { webhooks: webhooksOf(state.webhooks).map(webhookView) }, position };
  }

  /** Authenticates a webhook by its token; reloads from the log before refusing. */
  async function authenticate(webhookId: string, token: string | undefined, seen?: Position) {
    if (token === undefined) return noToken;
    const presentedHash = hashOf(token);
    const findIn = (state: ChannelsState) => findByToken(state, webhookId, presentedHash);
    const known = findIn((await admission.load(channelsAggregate, CHANNELS, seen)).state);
    return isRejection(known) ? findIn((await aggregates.reload(channelsAggregate, CHANNELS)).state) : known;
  }

  async function post(
    { id, channelId, name }: Webhook,
    content: string,
    context: CommandContext,
  ): CommandOutcome<{ readonly message: MessageView }> {
    const body = { content, mentions: await findMentions(admission, content), botName: name };
    return messages.postPrepared(webhookAuthor(id), channelId, { body }, context);
  }

  return { create, remove, list, authenticate, post };
}

/** A timing-safe comparison is not needed: hashes reveal nothing about tokens. */
function findByToken({ webhooks }: ChannelsState, webhookId: string, presentedHash: string): Webhook | Rejection {
  const webhook = webhooks.get(webhookId);
  if (!webhook) return webhookNotFound;
  if (webhook.tokenHash === presentedHash) return webhook;
  return [...webhooks.values()].some(({ tokenHash }) => tokenHash === presentedHash) ? tokenOfAnotherWebhook : noToken;
}
