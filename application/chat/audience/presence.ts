/** Delivers presence changes to everyone. */
import type { PresenceEvent } from '../../../domain/chat/presence.js';
import { userById } from '../../../domain/chat/roster.js';
import type { Audience } from '../../subscription/index.js';
import { type ChatState, EVERYBODY } from './state.js';

export const presenceOn: Audience<ChatState, PresenceEvent>['on'] = {
  PresenceChanged: {
    deliver: ({ data: { userId, status, former, lastSeen } }, { roster }) =>
      status === former || !userById(roster, userId)
        ? []
        : [{ to: [EVERYBODY], message: { type: 'PRESENCE_UPDATE', payload: { userId, status, lastSeen } } }],
  },
};
