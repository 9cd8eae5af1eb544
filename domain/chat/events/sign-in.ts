/** Events of signing in: passwords, emailed one-time links, sessions. */
import {
  type DataOf,
  event,
  id,
  linkEvents,
  object,
  sessionEnd,
  sessionFields,
  text,
  time,
} from '../../shared/index.js';
import { userSubject } from './roster.js';

const passwordEvents = {
  /** Salt and derived key, base64url. */
  PasswordSet: event(object({ userId: id, by: id, setAt: time, secret: object({ salt: text, hash: text }) }), {
    sealed: { subject: userSubject, erased: { salt: '', hash: '' } },
  }),
} as const;

/** What a mailed link is for. */
export type Purpose = 'magic-link' | 'invite' | 'reset';

const DAY_MS = 86_400_000;

/**
 * Key subject of the addresses of people who are not users yet: one key per day, destroyed when its links have expired.
 */
export const linksSubject = ({ expiresAt }: { readonly expiresAt: number }): string =>
  linksSubjectOf(Math.floor(expiresAt / DAY_MS));

/** By day since 1970. */
export const linksSubjectOf = (day: number): string => `chat.links-${day}`;

/** Holds no token: tokens are derived from session, generation and the installation's key. */
const sessionSecret = object({ ip: text, userAgent: text });
export type SessionSecret = DataOf<typeof sessionSecret>;

const session = object({ ...sessionFields, secret: sessionSecret });
const sealed = { subject: userSubject, erased: { ip: '', userAgent: '' } };

const sessionEvents = {
  SessionOpened: event(session, { sealed }),
  SessionRefreshed: event(session, { sealed }),
  SessionEnded: event(sessionEnd),
} as const;

export const signInEvents = {
  ...sessionEvents,
  ...passwordEvents,
  ...linkEvents(linksSubject),
} as const;
