/** Events of a user's credentials. */
import { event, object } from '../../shared/index.js';
import { userSubject } from './roster.js';
import { id, text, time } from './words.js';

export const userEvents = {
  /** Salt and derived key, base64url. */
  PasswordSet: event(object({ userId: id, by: id, setAt: time, secret: object({ salt: text, hash: text }) }), {
    sealed: { subject: userSubject, erased: { salt: '', hash: '' } },
  }),
} as const;
