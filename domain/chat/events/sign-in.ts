/** Events of signing in: passwords, emailed one-time links, OAuth, sessions. */
import { count, event, id, object, text, time } from '../../shared/index.js';
import { userSubject } from './roster.js';

const passwordEvents = {
  /** Salt and derived key, base64url. */
  PasswordSet: event(object({ userId: id, by: id, setAt: time, secret: object({ salt: text, hash: text }) }), {
    sealed: { subject: userSubject, erased: { salt: '', hash: '' } },
  }),
} as const;

export const PURPOSES = ['magic-link', 'invite', 'reset'] as const;

const DAY_MS = 86_400_000;

/**
 * Key subject of the addresses of people who are not users yet: one key per day, destroyed when its links have expired.
 */
export const linksSubject = ({ expiresAt }: { readonly expiresAt: number }): string =>
  linksSubjectOf(Math.floor(expiresAt / DAY_MS));

/** By day since 1970. */
export const linksSubjectOf = (day: number): string => `chat.links-${day}`;

const link = {
  /** Keyed digest of the email. */
  addressId: id,
  purpose: { enum: PURPOSES },
  linkId: id,
} as const;

const addressEvents = {
  /**
   * Appended whether or not the address may have a link, so that the log does not reveal users; the mail is decided
   * later.
   */
  LinkRequested: event(
    object(
      {
        ...link,
        requestedAt: time,
        expiresAt: time,
        /** Set for a new address that may become a user; else empty. */
        secret: object({ email: text }),
      },
      { userId: id },
    ),
    { sealed: { subject: linksSubject, erased: { email: '' } } },
  ),
  LinkMailed: event(object({ ...link, mailedAt: time })),
  /** Retries exhausted or permanently refused; the server's answer is not stored. */
  LinkNotMailed: event(object({ ...link, failedAt: time })),
  LinkSpent: event(object({ ...link, spentAt: time })),
} as const;

const oauthEvents = {
  OAuthReturned: event(object({ stateId: id, provider: id, returnedAt: time })),
} as const;

/** Holds no token: the refresh token is derived from session, generation and the installation's key. */
const session = object({
  userId: id,
  sessionId: id,
  generation: count,
  createdAt: time,
  lastUsedAt: time,
  expiresAt: time,
  secret: object({ ip: text, userAgent: text }),
});

const sealed = { subject: userSubject, erased: { ip: '', userAgent: '' } };

/** Each event holds its whole session, so older ones may be dropped. */
const sessionEvents = {
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

export const signInEvents = { ...sessionEvents, ...passwordEvents, ...addressEvents, ...oauthEvents } as const;
