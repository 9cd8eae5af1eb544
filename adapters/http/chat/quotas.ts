/** Rate limits per user for actions that grow memory, start time or disk usage of the nodes. */
import type { chatSettings } from '../../../application/chat/settings.js';
import type { ValuesOf } from '../../../application/config/setting.js';
import type { Quota } from '../../../application/ports/index.js';
import {
  createBurstLimit,
  createRateLimit,
  quotaOf,
  type RateLimit,
  type RouteQuota,
} from '../server/client-network.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export type ChatQuotas = ReturnType<typeof createChatQuotas>;

const quota = (perCaller: RateLimit, what: string, description: string): RouteQuota => ({
  perCaller,
  rejected: `chat/too-many-${what}`,
  description: `Too many ${description}, try again later`,
});

export function createChatQuotas(values: ValuesOf<typeof chatSettings>) {
  const perHour = (setting: 'chat.changesPerHour' | 'chat.uploadsPerHour' | 'chat.sessionsPerHour') =>
    createRateLimit(values[setting], HOUR_MS);
  const perMinute = createRateLimit(values['chat.webhookMessagesPerMinute'], MINUTE_MS);
  const sessions = quota(perHour('chat.sessionsPerHour'), 'sessions', 'sessions opened or refreshed by this user');
  return {
    /** Changes of channels and of the own name. */
    changes: quota(perHour('chat.changesPerHour'), 'changes', 'channels and names changed by this user'),
    uploads: quota(perHour('chat.uploadsPerHour'), 'uploads', 'files uploaded by this user'),
    /** Messages, replies, edits, pins and reactions of a user, in channels and conversations. */
    messages: quota(
      createBurstLimit(values['chat.messagesPerMinute']),
      'messages',
      'messages, edits, pins and reactions by this user',
    ),
    webhookMessages: quota(perMinute, 'webhook-messages', 'messages by this webhook'),
    sessions: (userId: string): Quota => quotaOf(sessions, '', userId),
  };
}
