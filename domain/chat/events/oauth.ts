/** Events of sign-ins through OAuth providers. */
import { event, object } from '../../shared/index.js';
import { id, time } from './words.js';

export const oauthEvents = {
  /** The state was returned; it is valid once. */
  OAuthReturned: event(object({ stateId: id, provider: id, returnedAt: time })),
} as const;
