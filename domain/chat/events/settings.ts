/** Events of the server settings. */
import { event, id, object, text, time } from '../../shared/index.js';

export const SETTINGS_SUBJECT = 'chat.settings-main';

export const SERVER_NAME = 'Annals';

export const settingsEvents = {
  ServerRenamed: event(object({ by: id, renamedAt: time, secret: object({ name: text }) }), {
    sealed: { subject: () => SETTINGS_SUBJECT, erased: { name: SERVER_NAME } },
  }),
} as const;
