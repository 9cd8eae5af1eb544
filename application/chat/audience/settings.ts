/** Delivers changes of the server settings to everyone. */
import type { ServerEvent } from '../../../domain/chat/server-settings.js';
import type { Audience } from '../../subscription/index.js';
import { type ChatState, EVERYBODY } from './state.js';

export const settingsOn: Audience<ChatState, ServerEvent>['on'] = {
  ServerRenamed: {
    deliver: ({ data: { secret } }) => [
      { to: [EVERYBODY], message: { type: 'UPDATE_SERVER_SETTINGS', payload: { name: secret.name } } },
    ],
  },
};
