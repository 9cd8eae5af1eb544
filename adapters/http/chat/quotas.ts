/** Rate limits per user for actions that grow memory, start time or disk usage of the nodes. */
import type { Quota } from '../../../application/ports/index.js';
import { createBurstLimit, createRateLimit, quotaOf, type RouteQuota } from '../server/rate-limit.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export interface ChatQuotas {
  /** Changes of channels and of the own name. */
  readonly changes: RouteQuota;
  readonly uploads: RouteQuota;
  /** Messages, replies, edits, pins and reactions of a user, in channels and conversations. */
  readonly messages: RouteQuota;
  readonly webhookMessages: RouteQuota;
  readonly sessions: (userId: string) => Quota;
}

export interface ChatQuotaSettings {
  readonly 'chat.changesPerHour': number;
  readonly 'chat.uploadsPerHour': number;
  readonly 'chat.sessionsPerHour': number;
  readonly 'chat.messagesPerMinute': number;
  readonly 'chat.webhookMessagesPerMinute': number;
}

export function createChatQuotas(values: ChatQuotaSettings): ChatQuotas {
  const sessions = {
    perCaller: createRateLimit(values['chat.sessionsPerHour'], HOUR_MS),
    rejected: 'chat/too-many-sessions',
    description: 'Too many sessions opened or refreshed by this user, try again later',
  };
  return {
    changes: {
      perCaller: createRateLimit(values['chat.changesPerHour'], HOUR_MS),
      rejected: 'chat/too-many-changes',
      description: 'Too many channels and names changed by this user, try again later',
    },
    uploads: {
      perCaller: createRateLimit(values['chat.uploadsPerHour'], HOUR_MS),
      rejected: 'chat/too-many-uploads',
      description: 'Too many files uploaded by this user, try again later',
    },
    messages: {
      perCaller: createBurstLimit(values['chat.messagesPerMinute']),
      rejected: 'chat/too-many-messages',
      description: 'Too many messages, edits, pins and reactions by this user, try again later',
    },
    webhookMessages: {
      perCaller: createRateLimit(values['chat.webhookMessagesPerMinute'], MINUTE_MS),
      rejected: 'chat/too-many-webhook-messages',
      description: 'Too many messages by this webhook, try again later',
    },
    sessions: (userId) => quotaOf(sessions, '', userId),
  };
}
