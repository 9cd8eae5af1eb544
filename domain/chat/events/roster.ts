/** Events of users. */
import { event, flag, id, object, text, time } from '../../shared/index.js';

export const userSubject = ({ userId }: { readonly userId: string }): string => `chat.user-${userId}`;

export const NOBODY = 'Deleted user';

export const rosterEvents = {
  UserAdded: event(
    object(
      {
        userId: id,
        isAdmin: flag,
        /** By configuration, by an admin, at the first sign-in, or by registration. */
        how: { enum: ['initial', 'admin', 'sign-in', 'register'] },
        addedAt: time,
        secret: object({ email: text, userName: text }),
      },
      { by: id },
    ),
    { sealed: { subject: userSubject, erased: { email: '', userName: NOBODY } } },
  ),
  UserRenamed: event(object({ userId: id, renamedAt: time, secret: object({ userName: text }) }), {
    sealed: { subject: userSubject, erased: { userName: NOBODY } },
  }),
  RoleChanged: event(object({ userId: id, isAdmin: flag, by: id, changedAt: time })),
  UserRemoved: event(object({ userId: id, by: id, removedAt: time })),
  UserLeft: event(object({ userId: id, leftAt: time })),
  UserErased: event(object({ userId: id, by: id, erasedAt: time }), { erases: userSubject }),
} as const;
