/** The rules of webhooks: in a channel that is there, removed by name, and gone with their channel. */
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
const there = run([createChannel()]).events;

describe('a webhook', () => {
  it('is made in a channel, with the hash of its token', () => {
    given(...there)
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

  it('is made in no channel that is not there', () => {
    given().when(createWebhook('x')).thenRejected('chat/channel-not-found', { kind: 'not-found' });
    given(...run([createChannel(), deleteChannel()]).events)
      .when(createWebhook('x'))
      .thenRejected('chat/channel-not-found');
  });

  it('has a name of 1 to 80 characters', () => {
    for (const name of ['', ' \n', '\u200b', 'x'.repeat(81)])
      given(...there)
        .when(createWebhook(name))
        .thenRejected('chat/bad-webhook-name', { kind: 'invalid' });
  });

  it('is removed once', () => {
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

  it('is listed in the order in which they were made', () => {
    const made = (webhookId: string, now: number) => createWebhook(webhookId, { webhookId, now });
    const ids = ['e', 'b', 'd', 'a', 'c'];
    const late = ids.map((each, n) => made(`late ${each}`, NOON + 20 - n));
    const { state } = run([createChannel(), ...late, ...ids.map((each) => made(each, NOON))]);
    const names = webhooksOf(state.webhooks).map(({ id }) => id);
    const reversed = ids.toReversed().map((each) => `late ${each}`);
    expect(names).to.deep.equal(['a', 'b', 'c', 'd', 'e', ...reversed]);
  });

  it('goes with its channel, and with no other', () => {
    const { state } = run([
      createChannel(),
      createChannel('Other'),
      createWebhook('here'),
      createWebhook('there', { webhookId: 'stays', channelId: 'other' }),
      deleteChannel(asAdmin(ADA)),
    ]);
    expect(webhooksOf(state.webhooks).map(({ id }) => id)).to.deep.equal(['stays']);
  });
});
