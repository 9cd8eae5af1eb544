/** Events of a user's sessions. Each event holds its whole session, so older ones may be dropped. */
import { event, object } from '../../shared/index.js';
import { userSubject } from './roster.js';
import { count, id, text, time } from './words.js';

/** Holds no token: the refresh token is derived from session, generation and the installation's key. */
const session = object({
  userId: id,
  sessionId: id,
  /** Number of refreshes. */
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
