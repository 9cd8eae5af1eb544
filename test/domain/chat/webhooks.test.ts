/** Webhook rules: created in an existing channel and deleted with it. */
import { expect } from 'chai';
import { channels } from '../../../domain/chat/channels.js';
import { webhooksOf } from '../../../domain/chat/webhooks.js';
import {
  ADA,
  asAdmin,
  CHANNEL,
  createChannel,
  createWebhook,
  deleteChannel,
  deleteWebhook,
  NOON,
} from '../../support/chat-fixtures.js';
import { specOf } from '../../support/decider-spec.js';

const { given, run } = specOf(channels);
const channelExists = run([createChannel()]).events;

describe('a webhook', () => {
  it('is created in a channel with the hash of its token', () => {
    given(...channelExists)
      .when(createWebhook(' Builds '))
      .then({
        type: 'WebhookCreated',
        data: {
          webhookId: 'hook',
          channelId: CHANNEL,
          createdBy: ADA,
          createdAt: NOON,
          tokenHash: 'hash',
          secret: { name: 'Builds' },
        },
      });
  });

  it('cannot be created in a missing channel', () => {
    given().when(createWebhook('x')).thenRejected('chat/channel-not-found', { kind: 'not-found' });
    given(...run([createChannel(), deleteChannel()]).events)
      .when(createWebhook('x'))
      .thenRejected('chat/channel-not-found');
  });

  it('has a name of 1 to 80 characters', () => {
    for (const name of ['', ' \n', '\u200b', 'x'.repeat(81)])
      given(...channelExists)
        .when(createWebhook(name))
        .thenRejected('chat/bad-webhook-name', { kind: 'invalid' });
  });

  it('is deleted once', () => {
    const made = run([createChannel(), createWebhook('x')]).events;
    given(...made)
      .when(deleteWebhook())
      .then({
        type: 'WebhookDeleted',
        data: { webhookId: 'hook', channelId: CHANNEL, by: ADA, deletedAt: NOON + 1 },
      });
    given(...run([deleteWebhook()], made).events)
      .when(deleteWebhook())
      .thenRejected('chat/webhook-not-found', { kind: 'not-found' });
  });

  it('is listed in order of creation', () => {
    const made = (webhookId: string, now: number) => createWebhook(webhookId, { webhookId, now });
    const ids = ['e', 'b', 'd', 'a', 'c'];
    const later = ids.map((each, n) => made(`later ${each}`, NOON + 20 - n));
    const { state } = run([createChannel(), ...later, ...ids.map((each) => made(each, NOON))]);
    const names = webhooksOf(state.webhooks).map(({ id }) => id);
    const reversed = ids.toReversed().map((each) => `later ${each}`);
    expect(names).to.deep.equal(['a', 'b', 'c', 'd', 'e', ...reversed]);
  });

  it('is deleted with its channel only', () => {
    const { state } = run([
      createChannel(),
      createChannel('Other'),
      createWebhook('Builds'),
      createWebhook('Deploys', { webhookId: 'stays', channelId: 'other' }),
      deleteChannel(asAdmin(ADA)),
    ]);
    expect(webhooksOf(state.webhooks).map(({ id }) => id)).to.deep.equal(['stays']);
  });
});
