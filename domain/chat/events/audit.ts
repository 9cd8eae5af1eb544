/** Events that exist for the audit log only. */
import { event, id, object, time } from '../../shared/index.js';

export const auditEvents = {
  /**
   * `limit`: which limit of failed sign-ins was reached. `addressId`: keyed digest of the email of the last attempt.
   * `userId`: its user, if any.
   */
  SignInLimitReached: event(
    object(
      { addressId: id, limit: { enum: ['email', 'network', 'email-and-network'] }, reachedAt: time },
      { userId: id },
    ),
  ),
  /** `by`: an admin, or the operator. */
  Exported: event(object({ by: id, exportedAt: time })),
  /**
   * Preserves an action after its own event is erased. `factId`, `position` (log position, in digits) and `doneAt`
   * are those of that event.
   */
  ActKept: event(
    object({
      factId: id,
      position: { type: 'string', pattern: '^\\d+$' },
      doneAt: time,
      action: id,
      actorId: id,
      targetType: id,
      targetId: id,
      metadata: object({}, { channelId: id, threadId: id, author: id }),
    }),
  ),
} as const;
