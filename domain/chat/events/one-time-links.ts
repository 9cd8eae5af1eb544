/** What happens to the links that an address is sent: to sign in, to be invited, to set a password. */
import { event, object } from '../../shared/index.js';
import { id, text, time } from './words.js';

export const PURPOSES = ['magic-link', 'invite', 'reset'] as const;

const DAY_MS = 86_400_000;

/** Whose key seals the addresses of those who are no users yet: a day's, and it goes when all its links are over. */
export const linksSubject = ({ expiresAt }: { readonly expiresAt: number }): string =>
  linksSubjectOf(Math.floor(expiresAt / DAY_MS));

/** By the day, counted from 1970. */
export const linksSubjectOf = (day: number): string => `chat.links-${day}`;

const link = {
  /** A keyed digest of the email. */
  addressId: id,
  purpose: { enum: PURPOSES },
  linkId: id,
} as const;

export const addressEvents = {
  /** Whether or not anybody may have the link: the log tells no difference, and the mail goes out by who is there then. */
  LinkRequested: event(
    object(
      {
        ...link,
        requestedAt: time,
        expiresAt: time,
        /** Of whoever is no user and may become one; else empty. */
        secret: object({ email: text }),
      },
      { userId: id },
    ),
    { sealed: { subject: linksSubject, erased: { email: '' } } },
  ),
  LinkMailed: event(object({ ...link, mailedAt: time })),
  /** Tried as often as is allowed, or refused for good; the server's answer is not kept. */
  LinkNotMailed: event(object({ ...link, failedAt: time })),
  LinkSpent: event(object({ ...link, spentAt: time })),
} as const;
