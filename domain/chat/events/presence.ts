/** What happens to the presence of a user. Each event tells all of it, so that only the newest is kept. */
import { event, object } from '../../shared/index.js';
import { flag, id, time } from './words.js';

const status = { enum: ['online', 'away', 'offline'] } as const;

export const presenceEvents = {
  PresenceChanged: event(
    object({
      userId: id,
      status,
      /** The status before. */
      former: status,
      /** Set by the user, and not by their connections. */
      isByHand: flag,
      /** Where they have streams open: a run of a node each. */
      runs: { type: 'array', items: id },
      changedAt: time,
      /** When the status became what it is. */
      lastSeen: time,
    }),
  ),
} as const;
