/** What one user may do only so often in an hour: what every node keeps and reads when it starts, and what fills its disk. */
import type { Quota } from '../../../application/ports.js';
import { createLimit, quotaOf, type RouteQuota } from '../kernel/limit.js';

const HOUR_MS = 60 * 60_000;

export interface ChatQuotas {
  /** Of channels, and of one's name. */
  readonly changes: RouteQuota;
  readonly uploads: RouteQuota;
  /** Of a user's sessions, opened and refreshed. */
  readonly sessions: (userId: string) => Quota;
}

export interface ChatQuotaSettings {
  readonly 'chat.changesPerHour': number;
  readonly 'chat.uploadsPerHour': number;
  readonly 'chat.sessionsPerHour': number;
}

export function createChatQuotas(values: ChatQuotaSettings): ChatQuotas {
  const sessions = {
    perCaller: createLimit(values['chat.sessionsPerHour'], HOUR_MS),
    rejected: 'chat/too-many-sessions',
    description: 'Too many sessions were begun or gone on with by this user, try again later',
  };
  return {
    changes: {
      perCaller: createLimit(values['chat.changesPerHour'], HOUR_MS),
      rejected: 'chat/too-many-changes',
      description: 'Too many channels and names were made or changed by this user, try again later',
    },
    uploads: {
      perCaller: createLimit(values['chat.uploadsPerHour'], HOUR_MS),
      rejected: 'chat/too-many-uploads',
      description: 'Too many files were uploaded by this user, try again later',
    },
    sessions: (userId) => quotaOf(sessions, '', userId),
  };
}
