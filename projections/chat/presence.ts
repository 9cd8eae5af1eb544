/** Projects the presence of users: one row per user. */
import type { ChatEvent } from '../../domain/chat/catalog.js';
import type { Projection } from '../kernel/index.js';

export const presence: Projection<ChatEvent<'PresenceChanged'>> = {
  name: 'chat.presence',
  version: 1,
  indexes: [{ key: { isConnected: 1 }, sparse: true }],
  on: {
    PresenceChanged: ({ data: { userId, status, lastSeen, runs } }) => [
      {
        put: userId,
        update: {
          $set: { status, lastSeen, runs, ...(runs.length > 0 && { isConnected: true }) },
          ...(runs.length === 0 && { $unset: { isConnected: '' } }),
        },
      },
    ],
  },
};
