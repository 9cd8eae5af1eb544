/** Events of dashboard sign-in: mailed links and sessions. */
import { event, object } from '../shared/index.js';

const id = { type: 'string', minLength: 1 } as const;
const time = { type: 'integer', minimum: 0 } as const;
const DAY_MS = 86_400_000;

/** Key subject that encrypts an email: one key per day on which the link or session expires. */
export const loginsSubject = ({ expiresAt }: { readonly expiresAt: number }): string =>
  loginsSubjectOf(Math.floor(expiresAt / DAY_MS));

/** Key subject by day number since 1970. */
export const loginsSubjectOf = (day: number): string => `analytics.logins-${day}`;

/** `addressId`: a keyed digest of the email. */
const link = { addressId: id, linkId: id } as const;
/** `sessionId`: a keyed hash of the token. */
const session = { addressId: id, sessionId: id } as const;
const secret = object({ email: { type: 'string' } });
const sealed = { sealed: { subject: loginsSubject, erased: { email: '' } } } as const;

export const loginEvents = {
  /** Written for every email, so that the log does not show who may sign in. */
  LoginRequested: event(object({ ...link, requestedAt: time, expiresAt: time, secret }), sealed),
  /** `isSent`: whether the mail server accepted the mail, or the link was logged. */
  LoginMailed: event(object({ ...link, mailedAt: time, isSent: { type: 'boolean' } })),
  /** Opened by a link, which is used up. */
  SessionOpened: event(object({ ...session, linkId: id, openedAt: time, expiresAt: time, secret }), sealed),
  SessionRenewed: event(object({ ...session, openedAt: time, renewedAt: time, expiresAt: time, secret }), sealed),
  SessionEnded: event(object({ ...session, endedAt: time })),
} as const;
