/** Events of emailed one-time links: sign-in, invite, password reset. */
import { event, object } from '../../shared/index.js';
import { id, text, time } from './words.js';

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

export const addressEvents = {
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
