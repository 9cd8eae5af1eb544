/** What happens to a sign-in by way of another provider. */
import { event, object } from '../../shared/index.js';
import { id, time } from './words.js';

export const oauthEvents = {
  /** Its state came back, which it does once. */
  OAuthReturned: event(object({ stateId: id, provider: id, returnedAt: time })),
} as const;
