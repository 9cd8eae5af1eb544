/** What an auditor asks for that no other event tells. */
import { event } from '../../shared/catalog.js';
import { object } from '../../shared/schema.js';
import { id, time } from './words.js';

export const auditEvents = {
  /** `addressId`: a keyed digest of the email; `userId` where it is somebody's. */
  SignInLimitReached: event(object({ addressId: id, reachedAt: time }, { userId: id })),
  /** `by`: an admin, or whoever runs the server. */
  Exported: event(object({ by: id, exportedAt: time })),
} as const;
