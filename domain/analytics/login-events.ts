/** What happens to those who sign in to the dashboard: links by mail, and sessions. */
import { event, object } from '../shared/index.js';

const id = { type: 'string', minLength: 1 } as const;
const time = { type: 'integer', minimum: 0 } as const;
const DAY_MS = 86_400_000;

/** Whose key seals an email: that of the day on which what it is needed for is over. */
export const loginsSubject = ({ expiresAt }: { readonly expiresAt: number }): string =>
  loginsSubjectOf(Math.floor(expiresAt / DAY_MS));

/** By the day, counted from 1970. */
export const loginsSubjectOf = (day: number): string => `analytics.logins-${day}`;

/** `addressId`: a keyed digest of the email. */
const link = { addressId: id, linkId: id } as const;
/** `sessionId`: a keyed hash of the token. */
const session = { addressId: id, sessionId: id } as const;
const secret = object({ email: { type: 'string' } });
const sealed = { sealed: { subject: loginsSubject, erased: { email: '' } } } as const;

export const loginEvents = {
  /** Whether or not somebody of this email may come in: the log tells no difference. */
  LoginRequested: event(object({ ...link, requestedAt: time, expiresAt: time, secret }), sealed),
  /** `isSent`: whether the mail was taken, by the server of it or by the log of the program. */
  LoginMailed: event(object({ ...link, mailedAt: time, isSent: { type: 'boolean' } })),
  /** By a link, which is spent with it. */
  SessionOpened: event(object({ ...session, linkId: id, openedAt: time, expiresAt: time, secret }), sealed),
  SessionRenewed: event(object({ ...session, openedAt: time, renewedAt: time, expiresAt: time, secret }), sealed),
  SessionEnded: event(object({ ...session, endedAt: time })),
} as const;
