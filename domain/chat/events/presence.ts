/** Events of a user's presence. Each event holds the whole state, so only the newest is kept. */
import { event, flag, id, object, time } from '../../shared/index.js';

export const STATUSES = ['online', 'away', 'offline'] as const;

const status = { enum: STATUSES };

export const presenceEvents = {
  PresenceChanged: event(
    object({
      userId: id,
      status,
      former: status,
      /** Set by the user, not derived from connections. */
      isByHand: flag,
      /** Node runs at which the user has open streams. */
      runs: { type: 'array', items: id },
      changedAt: time,
      lastSeen: time,
    }),
  ),
} as const;
