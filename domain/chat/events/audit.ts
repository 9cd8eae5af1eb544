/** What an auditor asks for that no other event tells. */
import { event, object } from '../../shared/index.js';
import { id, time } from './words.js';

export const auditEvents = {
  /**
   * `limit`: which of the limits of failed sign-ins; `addressId`: a keyed digest of the email that the last of them was
   * for; `userId` where it is somebody's.
   */
  SignInLimitReached: event(
    object(
      { addressId: id, limit: { enum: ['email', 'network', 'email-and-network'] }, reachedAt: time },
      { userId: id },
    ),
  ),
  /** `by`: an admin, or whoever runs the server. */
  Exported: event(object({ by: id, exportedAt: time })),
  /**
   * An act of which the log will not tell for ever: the stream of its fact goes with what it is about. `factId`,
   * `position` (of the log, in digits) and `doneAt` are that fact's.
   */
  ActKept: event(
    object({
      factId: id,
      position: { type: 'string', pattern: '^\\d+$' },
      doneAt: time,
      action: id,
      by: id,
      targetType: id,
      targetId: id,
      metadata: object({}, { channelId: id, threadId: id, author: id }),
    }),
  ),
} as const;
