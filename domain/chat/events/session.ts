/** What happens to the sessions of a user. Each event tells all of its session, so that older ones may go. */
import { event, object } from '../../shared/index.js';
import { userSubject } from './roster.js';
import { count, id, text, time } from './words.js';

/** No token is in it: the refresh token follows from session and generation, by the installation's key. */
const session = object({
  userId: id,
  sessionId: id,
  /** How often the refresh token was replaced. */
  generation: count,
  createdAt: time,
  lastUsedAt: time,
  expiresAt: time,
  secret: object({ ip: text, userAgent: text }),
});

const sealed = { subject: userSubject, erased: { ip: '', userAgent: '' } };

export const sessionEvents = {
  SessionOpened: event(session, { sealed }),
  SessionRefreshed: event(session, { sealed }),
  SessionEnded: event(
    object({
      userId: id,
      sessionId: id,
      reason: { enum: ['logout', 'revoked', 'superseded', 'reused', 'password', 'removed'] },
      endedAt: time,
    }),
  ),
} as const;
