/** Events of the server settings. */
import { event, object } from '../../shared/index.js';
import { id, text, time } from './words.js';

/** Key subject of the server name. */
export const SETTINGS_SUBJECT = 'chat.settings-main';

/** Default server name. */
export const SERVER_NAME = 'Annals';

export const settingsEvents = {
  ServerRenamed: event(object({ by: id, renamedAt: time, secret: object({ name: text }) }), {
    sealed: { subject: () => SETTINGS_SUBJECT, erased: { name: SERVER_NAME } },
  }),
} as const;
