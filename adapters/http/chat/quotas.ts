/** What one user may do only so often in an hour: what every node keeps and reads when it starts, and what fills its disk. */
import { createLimit, type RouteQuota } from '../kernel/limit.js';

const HOUR_MS = 60 * 60_000;

export interface ChatQuotas {
  /** Of channels, and of one's name. */
  readonly changes: RouteQuota;
  readonly uploads: RouteQuota;
}

export interface ChatQuotaSettings {
  readonly 'chat.changesPerHour': number;
  readonly 'chat.uploadsPerHour': number;
}

export const createChatQuotas = (values: ChatQuotaSettings): ChatQuotas => ({
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
});
