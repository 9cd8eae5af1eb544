/** State parameter of an OAuth sign-in, valid once. Stream `chat.oauth-<digest>`. */

import { type Decider, rejection } from '../shared/index.js';
import type { ChatEvent } from './catalog.js';

export interface OAuthState {
  readonly isSpent: boolean;
}

export interface SpendState {
  readonly type: 'SpendState';
  readonly stateId: string;
  readonly provider: string;
  readonly now: number;
}

export type OAuthReturned = ChatEvent<'OAuthReturned'>;

export const oauthStream = (stateId: string): string => `chat.oauth-${stateId}`;

const spent = rejection('chat/state-spent', 'invalid', 'The state has already been used');

export const oauth: Decider<OAuthState, SpendState, OAuthReturned> = {
  initialState: { isSpent: false },
  decide: ({ stateId, provider, now }, { isSpent }) =>
    isSpent ? spent : [{ type: 'OAuthReturned', data: { stateId, provider, returnedAt: now } }],
  evolve: { OAuthReturned: () => ({ isSpent: true }) },
};
